"""The check finds every kind of damage, names all of it, and calls a healthy journal healthy."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from lease_histories import FakeClock, granted, lock, memory_store, play, request, steps
from msgspec import structs

from dos.errors import StoreBusy
from dos.journal import check as checking
from dos.journal import streams
from dos.journal.backend import Entry
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.check import Problem, check
from dos.journal.events.lanes import LeaseGranted, LeaseReleased
from dos.journal.fold import current
from dos.journal.lease_state import Leases
from dos.journal.store import Store
from dos.lease import Request
from dos.regions import Mode, region


@given(history=steps)
def test_any_history_that_a_store_allows_has_no_problems(history):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    report = check(store)
    assert report.problems == []
    assert report.events == len(list(store.events()))
    assert report.leases == len(store.leases() + store.leases(locks=True))
    assert report.streams == len({event.stream for event in store.events()})


def test_an_empty_journal_is_healthy():
    report = check(memory_store())
    assert (report.events, report.streams, report.leases, report.problems) == (0, 0, 0, [])


def test_unknown_kinds_are_counted_and_are_no_problem():
    store = memory_store()
    for kind in ("of_tomorrow", "of_tomorrow", "of_others"):
        store.append("run/1", kind, {})
    report = check(store)
    assert report.unknown_kinds == {"of_tomorrow": 2, "of_others": 1}
    assert report.problems == []


def test_progress_is_told_along_the_way(monkeypatch):
    monkeypatch.setattr(checking, "PAGE", 4)
    store = memory_store()
    for number in range(10):
        store.append("run/1", "step", number)
    told = []
    check(store, progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 10), (8, 10), (10, 10)]


# Histories that no store would write


def problems(store: Store) -> list[str]:
    return [problem.what for problem in check(store).problems]


def grant(store: Store, asked: Request) -> int:
    """A grant that no rule was asked about."""
    fact = LeaseGranted(asked=asked, boot="boot-1", expires_ms=2_000_000)
    event = store.record(streams.lease(asked.lane, is_lock=asked.is_lock), fact)
    with store.backend.write() as tx:
        tx.add_lease(current(store, Leases)[0].live[event.pos])
    return event.pos


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (request("api"), request("api", "B"), "lane 'api' is already held"),
        (request("api"), request("API", "B"), "already held"),
        (request("api"), request("docs", "B", region=region(["api/x/**"])), "fence 1"),
        (request("api", exclusive=True), request("docs", "B"), "exclusive"),
        (request("api"), request("docs", "B", exclusive=True), "exclusive"),
        (request("api"), request("docs", "B", region=region([])), "unknown"),
        (request("api", mode=Mode.SHARED), request("api", "B"), "already held"),
        (lock("x"), lock("x", "B"), "lock 'x' was held"),
        (request("api", mode=Mode.SHARED), request("api", "B", mode=Mode.SHARED), None),
        (request("api"), request("docs", "B"), None),
        (lock("api"), request("api", "B"), None),
    ],
)
def test_two_leases_that_must_not_be_live_at_once_are_found(first, second, found):
    store = memory_store()
    grant(store, first)
    grant(store, second)
    told = problems(store)
    if found is None:
        assert told == []
    else:
        assert len(told) == 1
        assert "fence 2 was granted beside fence 1" in told[0]
        assert found in told[0]


def test_an_overlap_is_found_also_when_it_is_long_over():
    store = memory_store()
    for fence in (grant(store, request("api")), grant(store, request("api", "B"))):
        store.release(fence)
    assert len(problems(store)) == 1


def test_a_lease_the_table_does_not_have_is_found():
    store = memory_store()
    store.record("lane/api", LeaseGranted(asked=request(), boot="boot-1", expires_ms=1))
    assert problems(store) == ["the lease with fence 1 is live and missing from the lease table"]


def test_a_lease_that_only_the_table_has_is_found():
    store = memory_store()
    lease = granted(store, request())
    store.record("lane/api", LeaseReleased(lease=lease.fence))
    assert problems(store) == ["the lease table has fence 1, which by the events is not live"]


def test_a_lease_that_the_table_tells_otherwise_is_found():
    store = memory_store()
    lease = granted(store, request())
    with store.backend.write() as tx:
        tx.update_lease(structs.replace(lease, holder="somebody else"))
    assert problems(store) == [
        "the lease table and the events disagree about the lease with fence 1"
    ]


def test_a_change_of_a_lease_that_is_not_live_is_found():
    store = memory_store()
    store.release(granted(store, request()).fence)
    store.record("lane/api", LeaseReleased(lease=1))
    store.record("lane/api", LeaseReleased(lease=77))
    assert problems(store) == [
        "event 3 (lease_released) is about fence 1, which was not live",
        "event 4 (lease_released) is about fence 77, which was not live",
    ]


def test_a_grant_on_the_stream_of_another_lane_is_found():
    store = memory_store()
    store.record("lane/docs", LeaseGranted(asked=request("api"), boot="boot-1", expires_ms=1))
    assert "event 1 grants lane 'api' on stream 'lane/docs'" in problems(store)


def test_a_gap_in_the_versions_of_a_stream_is_found():
    store = memory_store()
    for number in range(4):
        store.append("run/1", "step", number)
    with store.backend.write() as tx:
        tx.delete([2])
    assert check(store).problems == [Problem(3, "stream 'run/1' goes from version 1 to 3")]


def test_a_version_that_comes_twice_is_found():
    store = memory_store()
    for _ in range(2):
        with store.backend.write() as tx:
            tx.insert(Entry(stream="run/1", kind="step", body={}), 1, "", b"{}")
    assert check(store).problems == [Problem(2, "stream 'run/1' goes from version 1 to 1")]


def test_events_written_under_a_dead_or_older_fence_are_found():
    store = memory_store()
    old, new = granted(store, request()), granted(store, request("docs"))
    store.append("run/1", "step", {}, fence=new.fence)
    _slip_in(store, "run/1", fence=old.fence)
    _slip_in(store, "run/1", fence=99)
    assert problems(store) == [
        "event 4 was written under fence 1, after fence 2",
        "event 5 was written under fence 99, which was not live",
    ]


def test_a_fact_without_the_fields_of_its_kind_is_found_and_the_walk_goes_on():
    store = memory_store()
    store.append("lane/api", LeaseReleased.kind, {"lease": "seven"})
    store.append("lane/api", LeaseReleased.kind, {})
    store.append("run/1", "step", {}, schema=9)
    found = check(store).problems
    assert [problem.pos for problem in found] == [1, 2, 3]
    assert "Expected `int`" in found[0].what
    assert "schema 9" in found[2].what


def _slip_in(store: Store, stream: str, fence: int) -> None:
    with store.backend.write() as tx:
        tx.insert(
            Entry(stream=stream, kind="step", body={}, fence=fence), tx.head(stream) + 1, "", b"{}"
        )


# Damaged files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    with Store(SqliteBackend(path)) as store:
        granted(store, request())
        for number in range(400):
            store.append("run/1", "step", {"text": f"number {number:04d} " + "x" * 200})
    return path


def checked(path: Path) -> list[Problem]:
    with Store(SqliteBackend(path)) as store:
        return check(store).problems


def overwrite(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER IF EXISTS event_immutable")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_an_undamaged_file_is_healthy(file):
    assert checked(file) == []


def test_every_changed_event_is_named_not_only_the_first(file):
    overwrite(file, "UPDATE event SET body = replace(body, 'x', 'y') WHERE pos IN (5, 6, 200, 401)")
    assert [problem.pos for problem in checked(file)] == [5, 6, 200, 401]
    assert all("not what was written" in problem.what for problem in checked(file))


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'stop'",
        "at_ms = at_ms + 1",
        "actor = 'me'",
        "fence = 1",
        "key = 'k'",
        "crc = 0",
        "body = 7",
        "at_ms = 'x'",
    ],
)
def test_a_change_of_any_column_is_found(file, change):
    overwrite(file, f"UPDATE event SET {change} WHERE pos = 9")
    assert [problem.pos for problem in checked(file)] == [9]


def test_a_flipped_bit_in_a_body_is_found(file):
    data = bytearray(file.read_bytes())
    data[data.index(b"number 0123")] ^= 1
    file.write_bytes(data)
    assert [problem.pos for problem in checked(file)] == [125]


def test_text_that_is_no_text_any_more_is_named_and_the_walk_goes_on(file):
    overwrite(file, "UPDATE event SET stream = CAST(x'ff' || x'fe' AS TEXT) WHERE pos = 50")
    result = checked(file)
    assert 50 in [problem.pos for problem in result]
    assert any("cannot be read" in problem.what for problem in result)
    assert not any(problem.pos > 52 for problem in result)


def test_a_page_of_zeros_is_named_and_the_walk_goes_on_behind_it(file):
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    page = data.index(b"number 0200") // size * size
    lost = data[page : page + size].count(b"number ")
    data[page : page + size] = bytes(size)
    file.write_bytes(data)
    result = checked(file)
    assert any("page" in problem.what for problem in result if problem.pos == 0)
    unread = [problem for problem in result if "cannot be read" in problem.what]
    assert len(unread) == 1
    with Store(SqliteBackend(file)) as store:
        assert check(store).events == 401 - lost


def test_a_file_that_is_damaged_beyond_reading_is_reported_and_not_raised(file):
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[size:] = bytes(len(data) - size)
    file.write_bytes(data)
    result = checked(file)
    assert any("no event after 0 can be read" in problem.what for problem in result)


def test_a_damaged_lease_table_is_reported(file):
    overwrite(file, "UPDATE lease SET body = 'nonsense'")
    assert [
        problem.what for problem in checked(file) if "lease table cannot be read" in problem.what
    ]


def test_a_lease_deleted_behind_the_back_of_the_journal_is_reported(file):
    overwrite(file, "DELETE FROM lease")
    assert checked(file) == [
        Problem(1, "the lease with fence 1 is live and missing from the lease table")
    ]


def test_a_store_that_is_only_busy_is_not_called_damaged(file, monkeypatch):
    with Store(SqliteBackend(file)) as store:

        def busy(backend):
            raise StoreBusy("busy")

        monkeypatch.setattr(SqliteBackend, "read", busy)
        with pytest.raises(StoreBusy):
            check(store)


def test_writers_may_go_on_while_it_is_checked(tmp_path):
    path = tmp_path / "state.db"
    with Store(SqliteBackend(path)) as store, Store(SqliteBackend(path)) as other:
        for number in range(10):
            granted(store, request(f"lane{number}"))

        def meddle(done, total):
            for lease in other.leases():
                other.release(lease.fence)

        assert check(store, progress=meddle).problems == []
        assert other.leases() == []
