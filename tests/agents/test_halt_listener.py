"""A listener beside a run and the fold of the journal agree about a person's halt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.agents.io.halt_listener import HaltListener
from dos.errors import Halted
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import DrainRequested, RunBegun
from dos.journal.events.limits import HaltRequested, PauseRequested
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Request
from dos.machine.execute import never_stop
from dos.regions import region

RUN, OTHER = "RID-0123456789ABCDE", "RID-0123456789ABCDF"

words = st.sampled_from(["", "wrong branch", "too dear"])
said = st.one_of(
    st.builds(
        HaltRequested, run_id=st.sampled_from([RUN, OTHER]), reason=words, resumable=st.booleans()
    ),
    st.builds(PauseRequested, lane=st.sampled_from(["", "api"]), reason=words),
    st.builds(DrainRequested),
)


def stream_of(fact: Fact) -> str:
    return streams.run(fact.run_id) if isinstance(fact, HaltRequested) else streams.FLEET


def held(store: Store) -> Lease:
    request = Request(
        lane="api", holder="me", host="h", ttl_ms=60_000, region=region(["api/**"]), run_id=RUN
    )
    taken = store.acquire(request, admission.judge)
    assert isinstance(taken, Lease)
    return taken


@given(st.lists(said, max_size=6), st.integers(min_value=0, max_value=6))
def test_who_listens_hears_what_the_fold_says(facts: list[Fact], looks_after: int) -> None:
    store = Store(MemoryBackend())
    lease, listener = held(store), HaltListener(RUN, open_store=lambda: store, is_lost=never_stop)
    store.record(streams.run(RUN), RunBegun(run_id=RUN, lane="api", host="h", start_sha=""))
    for number, fact in enumerate(facts):
        if number == looks_after:
            listener.poll(store)
        store.record(stream_of(fact), fact)
    listener.poll(store)

    watch = fold.Watch(store, FleetState)
    watch.refresh()
    orders = watch.state(FleetState).stop_requests(lease)
    assert listener.halted == orders.halted
    assert listener.must_stop() is bool(orders.halted)
    if orders.halted:
        with pytest.raises(Halted, match=orders.halted):
            listener.raise_if_halted()
    else:
        listener.raise_if_halted()


def test_a_lost_lease_stops_what_runs_and_is_no_halt() -> None:
    store = Store(MemoryBackend())
    listener = HaltListener(RUN, open_store=lambda: store, is_lost=lambda: True)
    assert listener.must_stop()
    listener.raise_if_halted()
