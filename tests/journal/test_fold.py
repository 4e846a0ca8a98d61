"""Folding: in parts or at once, from a snapshot or from nothing, a state is the same."""

import importlib.util
import sys
from collections import Counter
from itertools import islice
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lease_histories import (
    DAY_MS,
    FakeClock,
    admit,
    granted,
    lock,
    memory_store,
    play,
    request,
    steps,
)
from msgspec import Struct

from dos.errors import JournalTooNew
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, streams
from dos.journal.backends import memory
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import JournalPruned
from dos.journal.lease_state import Leases
from dos.journal.prune import prune
from dos.journal.store import Store

STATES = (Leases, FleetState)


class Tally(Struct):
    name: ClassVar[str] = "tally"
    seen: int = 0

    def apply(self, event: Event) -> None:
        self.seen += 1


@given(history=steps, cut=st.integers(0, 80))
def test_folding_in_two_parts_is_folding_at_once(history, cut):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    happened = list(store.events())
    for kind in STATES:
        parts = fold.fold(fold.fold(kind(), happened[:cut]), happened[cut:])
        assert parts == fold.fold(kind(), happened)


@given(history=steps, cut=st.integers(0, 80))
def test_a_snapshot_and_the_events_after_it_are_a_full_fold(history, cut):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    first = list(islice(store.events(), cut))
    for kind in STATES:
        if first:
            fold.save_snapshot(store, fold.fold(kind(), first), first[-1].pos)
        assert fold.current(store, kind) == (fold.fold(kind(), store.events()), store.last())


@given(history=steps)
def test_an_encoded_state_decodes_to_itself(history):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    for kind in STATES:
        state = fold.fold(kind(), store.events())
        assert fold.decode(kind, fold.encode(state)) == state


@given(history=steps)
def test_the_lease_table_is_the_fold_of_the_lease_events(history):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    table = {lease.fence: lease for lease in store.leases() + store.leases(locks=True)}
    assert fold.current(store, Leases)[0].live == table


@settings(max_examples=10, deadline=None)
@given(history=steps)
def test_the_lease_table_of_the_embedded_store_is_the_fold_too(tmp_path_factory, history):
    clock = FakeClock()
    with Store(SqliteBackend(tmp_path_factory.mktemp("store") / "state.db", clock=clock)) as store:
        play(store, clock, history)
        table = {lease.fence: lease for lease in store.leases() + store.leases(locks=True)}
        assert fold.current(store, Leases)[0].live == table


def test_adoption_ends_one_lease_and_begins_another():
    store = memory_store()
    old = granted(store, request(holder="A"))
    new = store.adopt(old.fence, request(holder="B"), version=old.version)
    assert fold.current(store, Leases)[0].live == {new.fence: new}


def test_an_unknown_kind_changes_nothing():
    store = memory_store()
    lease = granted(store, request())
    before = fold.current(store, Leases)[0]
    store.append("lane/api", "lease_of_tomorrow", {"lease": lease.fence})
    assert fold.current(store, Leases) == (before, store.last())


def test_a_newer_schema_is_refused():
    store = memory_store()
    store.append("run/1", "step", {}, schema=99)
    with pytest.raises(JournalTooNew, match="schema 99"):
        fold.current(store, Leases)


def test_a_snapshot_is_written_when_it_pays_and_only_when_asked_for():
    store = memory_store()
    keeping, looking = fold.Watch(store, Tally, snapshots=True), fold.Watch(store, Tally)
    for number in range(fold.SNAPSHOT_EVERY):
        store.append("run/1", "step", number)
    keeping.refresh()
    assert _snapshot(store, Tally) is None
    store.append("run/1", "step", "one more")
    looking.refresh()
    fold.current(store, Tally)
    assert _snapshot(store, Tally) is None
    keeping.refresh()
    assert _snapshot(store, Tally) == (store.last(), b'{"seen":1001}')


class Numbers(Struct):
    """A position that is missed, or taken twice, shows."""

    name: ClassVar[str] = "numbers"
    heard: list[int] = []

    def apply(self, event: Event) -> None:
        self.heard.append(event.pos)


@pytest.fixture
def counts(monkeypatch):
    """How often the tail was read, and a snapshot written."""
    found = Counter()

    def counted(name):
        real = getattr(memory.Rows, name)

        def counting(rows, *given):
            found[name] += 1
            return real(rows, *given)

        monkeypatch.setattr(memory.Rows, name, counting)

    counted("tail")
    counted("keep_snapshot")
    return found


def test_a_look_reads_what_is_new_once_however_many_states_it_serves(counts):
    store = memory_store()
    store.append("run/1", "step", 0)
    watch = fold.Watch(store, Tally, Numbers, Leases, FleetState)
    for expected in (2, 3):  # a page, and that there is no more; then only that there is none
        watch.refresh()
        assert counts["tail"] == expected
    store.append("run/1", "step", 1)
    watch.refresh()
    assert counts["tail"] == 5
    assert watch.state(Tally).seen == 2 and watch.state(Numbers).heard == [1, 2]


def test_many_that_watch_write_as_many_snapshots_as_one(counts):
    store = memory_store()
    watches = [fold.Watch(store, Tally, Numbers, snapshots=True) for _ in range(9)]
    for number in range(5 * fold.SNAPSHOT_EVERY):
        store.append("run/1", "step", number)
        if number % 100 == 0:
            for folder, watch in enumerate(watches):
                if (number // 100 + folder) % 3 == 0:  # not all of them at once
                    watch.refresh()
    assert 6 <= counts["keep_snapshot"] <= 10  # two states, and a snapshot for each thousand events


def test_of_those_that_look_at_the_same_moment_one_writes_the_snapshot(counts, monkeypatch):
    store = memory_store()
    for number in range(fold.SNAPSHOT_EVERY + 2):
        store.append("run/1", "step", number)
    real = fold.encode

    def while_the_other_writes(state):
        monkeypatch.setattr(fold, "encode", real)
        fold.save_snapshot(store, Tally(seen=1001), 1001)
        return real(state)

    monkeypatch.setattr(fold, "encode", while_the_other_writes)
    fold.Watch(store, Tally, snapshots=True).refresh()
    assert counts["keep_snapshot"] == 1


@given(history=steps, first=st.integers(0, 80), second=st.integers(0, 80), cut=st.integers(0, 80))
def test_what_is_watched_from_snapshots_of_different_ages_is_a_full_fold(
    history, first, second, cut
):
    clock = FakeClock()
    told = memory_store(clock)
    play(told, clock, history)
    happened, store = list(told.events()), memory_store()
    watch = fold.Watch(store, Leases, FleetState, Numbers)
    for number, event in enumerate(happened, 1):
        store.append(event.stream, event.kind, event.body)
        for kind, at in ((Leases, first), (FleetState, second)):
            if number == at:
                fold.save_snapshot(store, *fold.current(store, kind))
        if number == cut:
            watch.refresh()
    watch.refresh()
    for kind in (*STATES, Numbers):
        assert watch.state(kind) == fold.fold(kind(), store.events())
    assert watch.pos == store.last()


def test_a_snapshot_that_a_pruning_has_outdated_is_replaced_though_it_is_not_far_behind(counts):
    store = memory_store()
    for number in range(fold.SNAPSHOT_EVERY + 1):
        store.append("run/1", "step", number)
    fold.save_snapshot(store, Tally(seen=5), store.last() - 1)
    store.record(streams.PRUNINGS, JournalPruned(through=store.last(), removed=1))
    fold.Watch(store, Tally, snapshots=True).refresh()
    assert counts["keep_snapshot"] == 2
    assert _snapshot(store, Tally) == (store.last(), b'{"seen":1002}')


def test_a_state_is_folded_on_from_its_snapshot_and_not_again():
    store = memory_store()
    for number in range(5):
        store.append("run/1", "step", number)
    fold.save_snapshot(store, Tally(seen=1_000_000), 3)
    assert fold.current(store, Tally) == (Tally(seen=1_000_002), 5)


def test_a_snapshot_never_goes_back():
    store = memory_store()
    fold.save_snapshot(store, Tally(seen=9), 9)
    fold.save_snapshot(store, Tally(seen=4), 4)
    assert _snapshot(store, Tally) == (9, b'{"seen":9}')


def test_a_snapshot_of_other_code_is_not_used():
    store = memory_store()
    store.append("run/1", "step", 1)
    with store.backend.write() as tx:
        tx.keep_snapshot(Tally.name, "other", 1, b'{"seen":77}')
    assert fold.current(store, Tally) == (Tally(seen=1), 1)


def test_a_snapshot_that_cannot_be_decoded_is_not_used():
    store = memory_store()
    store.append("run/1", "step", 1)
    with store.backend.write() as tx:
        tx.keep_snapshot(Tally.name, fold.code_hash(Tally), 1, b'{"seen":"seven"}')
    assert fold.current(store, Tally) == (Tally(seen=1), 1)


def test_a_snapshot_from_within_a_pruned_part_is_not_used():
    clock = FakeClock()
    store = memory_store(clock)
    first = granted(store, lock(holder="A"))
    fold.save_snapshot(store, *fold.current(store, Leases))
    store.release(first.fence)
    second = granted(store, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    assert prune(store, older_than_ms=0, now_ms=clock.wall_ms()).removed == 2
    assert fold.current(store, Leases)[0].live == {second.fence: second}


def test_the_code_hash_follows_the_source_of_the_state(tmp_path, monkeypatch):
    def hashed(extra: str) -> str:
        source = tmp_path / "counting.py"
        source.write_text(
            f"class Counted:\n    name = 'counted'\n    def apply(self, event): ...\n{extra}"
        )
        spec = importlib.util.spec_from_file_location("counting", source)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "counting", module)
        spec.loader.exec_module(module)
        return fold.code_hash(module.Counted)

    assert hashed("") == hashed("")
    assert hashed("") != hashed("# changed\n")


def test_a_lapsed_lease_that_is_taken_over_leaves_the_state():
    clock = FakeClock()
    store = memory_store(clock)
    granted(store, request(holder="A"))
    clock.advance(DAY_MS)
    taken = granted(store, request(holder="B"))
    assert fold.current(store, Leases)[0].live == {taken.fence: taken}
    assert store.acquire(request(holder="C"), admit)
    assert fold.current(store, Leases)[0].live == {taken.fence: taken}


def _snapshot(store: Store, kind: type[fold.State]) -> tuple[int, bytes] | None:
    with store.backend.read() as view:
        return view.snapshot(kind.name, fold.code_hash(kind))
