"""How pruning is done: archived first, in batches, beside others, in every store; and when it is
worth it."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from amounts import long
from lease_histories import DAY_MS, FakeClock, granted, lock, memory_store, request
from msgspec import json as encoding

from dos.errors import StoreFailed
from dos.journal import fold, streams
from dos.journal import prune as retention
from dos.journal.backend import Entry
from dos.journal.backends.memory import Rows
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.check import check
from dos.journal.events.lanes import LeaseGranted, LeaseRefused, LeaseReleased, LeaseRenewed
from dos.journal.lease_state import Leases
from dos.journal.prune import prune
from dos.journal.store import Store


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock) -> Store:
    return memory_store(clock)


def test_a_dry_run_says_what_would_go_and_touches_nothing(store, clock, tmp_path):
    store.release(granted(store, lock()).fence)
    granted(store, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    before = list(store.events())
    found = prune(
        store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "old", dry_run=True
    )
    assert (found.examined, found.removed, found.kept, found.archived_to) == (3, 2, 1, None)
    assert list(store.events()) == before
    assert not (tmp_path / "old").exists()


def test_nothing_is_written_when_nothing_goes(store, clock, tmp_path):
    granted(store, request())
    clock.advance(2 * DAY_MS)
    prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "old")
    assert [event.kind for event in store.events()] == [LeaseGranted.kind]
    assert not (tmp_path / "old").exists()


def test_what_goes_is_archived_first_and_the_journal_says_so(store, clock, tmp_path, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 3)
    for holder in "ABCD":
        store.release(granted(store, request(holder=holder)).fence)
    before = list(store.events())
    clock.advance(2 * DAY_MS)
    pruned = prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "new" / "old")
    archived = [json.loads(line) for line in Path(pruned.archived_to).read_text().splitlines()]
    assert [line["pos"] for line in archived] == [1, 2, 3, 4, 5, 6]
    assert [line["body"] for line in archived] == [event.body for event in before[:6]]
    marks = [event.body for event in store.load(streams.PRUNINGS)]
    assert marks == [{"through": 8, "removed": 3}, {"through": 8, "removed": 3}]


def test_nothing_is_removed_that_could_not_be_archived(store, clock, tmp_path):
    store.release(granted(store, lock()).fence)
    granted(store, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    (tmp_path / "old").write_text("a file where the directory should be")
    with pytest.raises(StoreFailed, match="exists"):
        prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "old")
    assert store.tail()[-1].pos == len(store.tail()) == 3


def test_the_archive_is_on_the_disk_before_the_delete(store, clock, tmp_path, monkeypatch):
    order = []
    sync, delete = os.fsync, Rows.delete
    monkeypatch.setattr(
        os, "fsync", lambda handle: (order.append(os.fstat(handle).st_ino), sync(handle))
    )
    monkeypatch.setattr(
        Rows, "delete", lambda rows, gone: (order.append("delete"), delete(rows, gone))
    )
    store.release(granted(store, lock()).fence)
    granted(store, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    pruned = prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "old")
    assert order[0] == Path(pruned.archived_to).stat().st_ino
    assert set(order[1:-1]) == {tmp_path.stat().st_ino, (tmp_path / "old").stat().st_ino}
    assert order[-1] == "delete"


def test_two_prunings_at_once_do_no_harm(store, clock):
    for holder in "ABCD":
        store.release(granted(store, request(holder=holder)).fence)
    clock.advance(2 * DAY_MS)
    before = fold.fold(Leases(), store.events())
    with pytest.MonkeyPatch.context() as patched:
        remove = retention._remove

        def overtaken(*given):
            patched.setattr(retention, "_remove", remove)
            prune(store, older_than_ms=0, now_ms=clock.wall_ms())
            remove(*given)

        patched.setattr(retention, "_remove", overtaken)
        prune(store, older_than_ms=0, now_ms=clock.wall_ms())
    assert fold.fold(Leases(), store.events()) == before
    assert check(store).problems == []


def test_a_later_pruning_of_less_does_not_take_back_the_mark(store, clock):
    refused = LeaseRefused(lane="api", holder="A", reason_class="LANE_HELD", reason="held")
    store.record(streams.lease("api"), refused, key="try-1")
    store.append(streams.lease("api"), "anything", {})
    clock.advance(DAY_MS)
    store.release(granted(store, lock()).fence)
    granted(store, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    assert prune(store, older_than_ms=0, now_ms=clock.wall_ms()).removed == 2
    clock.advance(5 * DAY_MS)
    assert prune(store, older_than_ms=7 * DAY_MS + 1, now_ms=clock.wall_ms()).removed == 1
    with store.backend.read() as view:
        assert fold.pruned_through(view) == 5


def test_the_embedded_store_goes_on_with_positions_and_versions(clock, tmp_path):
    with Store(SqliteBackend(tmp_path / "state.db", clock=clock)) as store:
        for holder in "ABC":
            store.release(granted(store, request(holder=holder)).fence)
        clock.advance(2 * DAY_MS)
        assert prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path).removed == 4
        lease = granted(store, request(holder="D"))
        assert (lease.fence, lease.version) == (8, 7)
        report = check(store)
        assert (report.events, report.leases, report.problems) == (4, 1, [])


def test_the_shared_store_goes_on_with_positions_and_versions(postgres, tmp_path):
    from dos.journal.backends.postgres import PostgresBackend

    with Store(PostgresBackend(postgres.createdb("retention"), workspace="w")) as store:
        for holder in "ABC":
            lease = granted(store, request(holder=holder))
            store.renew([lease.fence])
            store.release(lease.fence)
        last = granted(store, request("docs"))
        fold.save_snapshot(store, Leases(), 1)
        now_ms = store.load("lane/docs")[0].at_ms + 2 * DAY_MS
        assert prune(store, older_than_ms=0, now_ms=now_ms, archive=tmp_path).removed == 7
        assert fold.current(store, Leases)[0].live == {last.fence: last}
        lease = granted(store, request(holder="D"))
        assert (lease.fence > last.fence, lease.version) == (True, 10)
        report = check(store)
        assert (report.events, report.leases, report.problems) == (5, 2, [])


@pytest.mark.soak
def test_hundreds_of_thousands_of_events_are_pruned_in_bounded_memory(tmp_path):
    clock, batches = FakeClock(), long(24, 400)
    with Store(SqliteBackend(tmp_path / "state.db", clock=clock)) as store:
        lanes = [f"lane{number}" for number in range(20)]
        for batch in range(batches):
            with store.backend.write() as tx:
                for lane in lanes:
                    _write_lease(tx, lane, f"run-{batch}" if batch % 2 else "", renewals=248)
        for lane in lanes:
            store.append(streams.lease(lane), "anything", {})
        assert store.last() > 5_000 * batches
        clock.advance(2 * DAY_MS)
        tracemalloc.start()
        pruned = prune(store, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path / "old")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert pruned.removed == batches * 20 * 248 + batches // 2 * 20 * 2
        assert peak < 50_000_000
        assert check(store).problems == []


def _write_lease(tx, lane, run_id, renewals):
    stream, version = streams.lease(lane), tx.head(streams.lease(lane))

    def put(fact):
        nonlocal version
        version += 1
        return tx.insert(
            Entry(stream=stream, kind=fact.kind, body=fact), version, "", encoding.encode(fact)
        ).pos

    fence = put(LeaseGranted(asked=request(lane, run_id=run_id), boot="b", expires_ms=0))
    for _ in range(renewals):
        put(LeaseRenewed(lease=fence, expires_ms=1))
    put(LeaseReleased(lease=fence))
