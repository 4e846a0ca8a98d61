"""A landing is one value: what was intended is what every fold holds, and what is written once it
is done."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dos.fleet.state.fleet import FleetState
from dos.journal import fold, run_state, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import LandingIntended, RunBegun, UnitLanded
from dos.journal.store import Store
from dos.units.unit import Landing

RUN = "RID-0123456789ABCDE"
WHO = {"run_id": RUN, "lane": "api"}

commits = st.text("0123456789abcdef", min_size=40, max_size=40)
landings = st.builds(
    Landing,
    unit=st.sampled_from(["DEMO/A1", "DEMO/é 2"]),
    branch=st.sampled_from(["main", "dos/api/A1"]),
    base=commits,
    commit=commits,
    receipt=st.none() | st.dictionaries(st.sampled_from(["unit", "tree"]), st.text(max_size=5)),
)


@given(st.lists(landings, min_size=1, max_size=3))
def test_every_fold_has_the_landing_that_was_intended(made: list[Landing]) -> None:
    store = Store(MemoryBackend())
    store.record(streams.run(RUN), RunBegun(**WHO, host="h", start_sha=""))
    for each in made:
        words = {"unit": each.unit, "branch": each.branch, "receipt": each.receipt}
        store.record(
            streams.run(RUN),
            LandingIntended(**WHO, **words, iteration=1, old=each.base, new=each.commit),
        )

    plain = [structs.replace(each, receipt=None) for each in made]
    assert run_state.read(store, RUN).landings == plain
    newest = {each.unit: each for each in made}
    units = fold.current(store, FleetState)[0].units
    assert {name: units[name].intended.landing for name in newest} == newest

    last = plain[-1]
    done = UnitLanded(**WHO, unit=last.unit, branch=last.branch, base=last.base, commit=last.commit)
    assert done.landing == last
