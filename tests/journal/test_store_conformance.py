"""What every store promises about records: memory, SQLite and PostgreSQL answer alike."""

import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import structs
from patience import PATIENCE
from store_kinds import Kind, asking, grant, listed_leases, refuse, written

from dos.errors import BadInput, Conflict, JournalCorrupt, JournalTooNew
from dos.journal.backend import Entry, Prefetch
from dos.journal.events.envelope import SCHEMA
from dos.journal.store import Store

APPENDER = Path(__file__).with_name("appender.py")


# Streams


def test_versions_count_from_one_in_each_stream(store):
    found = [store.append(stream, "k", {}).ver for stream in ("a", "b", "a", "a", "b")]
    assert found == [1, 1, 2, 3, 2]
    assert [event.ver for event in store.load("a")] == [1, 2, 3]


@pytest.mark.parametrize(("there", "expected"), [(0, 1), (0, -1), (2, 0), (2, 1), (2, 3)])
def test_an_append_at_another_version_than_expected_conflicts_and_writes_nothing(
    store, there, expected
):
    for _ in range(there):
        store.append("a", "k", {})
    with pytest.raises(Conflict, match=f"at version {there}, not at {expected}"):
        store.append("a", "other", {}, expect=expected)
    assert written(store) == [("a", version + 1, "k") for version in range(there)]


def test_an_append_at_the_expected_version_is_taken(store):
    assert [store.append("a", "k", {}, expect=version).ver for version in range(3)] == [1, 2, 3]


def test_the_time_is_that_of_the_clock_that_dates_events(store):
    before = store.now_ms()
    assert before <= store.append("a", "k", {}).at_ms <= store.now_ms()


def test_a_repeated_key_returns_the_first_event_and_writes_nothing(store):
    first = store.append("a", "k", {"n": 1}, key="once")
    store.append("a", "k", {"n": 2})
    again = store.append("a", "another", {"n": 3}, key="once", expect=7)
    assert again == first
    assert [event.body for event in store.events()] == [{"n": 1}, {"n": 2}]


def test_a_key_counts_in_its_stream_only(store):
    assert store.append("a", "k", {}, key="once").stream == "a"
    assert store.append("b", "k", {}, key="once").stream == "b"
    assert len(store.tail()) == 2


def test_changing_what_was_returned_changes_nothing_stored(store):
    body = {"list": [1]}
    event = store.append("a", "k", body)
    body["list"].append(2)
    event.body["list"].append(3)
    store.load("a")[0].body["list"].append(4)
    assert store.load("a")[0].body == event.body == {"list": [1]}


def test_what_is_appended_comes_back_whole(store):
    at = store.append("run/7", "kind", {"a": [1, None, 2.5]}, key="key")
    assert store.load("run/7") == store.tail() == [at]
    assert (at.stream, at.ver, at.kind, at.actor, at.key, at.fence, at.schema) == (
        "run/7", 1, "kind", "test", "key", None, SCHEMA,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "a\0b",
        "line\u2028separator\u2029",
        "🦊" * 3,
        "\x7f\x1b[31m",
        "ſs İ",
        "\ufeff",
        "x" * 10_000,
        "𝄞\uffff",
    ],
    ids=ascii,
)
def test_any_text_in_a_body_comes_back_as_it_was(store, text):
    body = {"text": text, text[:100]: [text]}
    assert store.append("a", "k", body).body == body
    assert store.load("a")[0].body == store.tail()[0].body == body


@pytest.mark.parametrize("body", [None, 0, "", [], {}, True, -(2**53), 1e308])
def test_a_body_need_not_be_an_object(store, body):
    assert store.append("a", "k", body).body == store.load("a")[0].body == body


@pytest.mark.parametrize(
    "given",
    [
        {"stream": "a\0"}, {"stream": "\udc80"}, {"stream": "é" * 501}, {"kind": "\0"},
        {"key": "k\0"}, {"key": "x" * 1001}, {"body": {"text": "\udc80"}},
    ],
    ids=lambda given: next(iter(given)),
)  # fmt: skip
def test_what_some_store_could_not_keep_is_refused_by_all(store, given):
    with pytest.raises(BadInput):
        store.append(**{"stream": "a", "kind": "k", "body": {}} | given)
    assert store.last() == 0


def test_the_longest_names_are_kept(store):
    event = store.append("é" * 500, "k" * 1000, {}, key="🦊" * 250)
    assert store.load("é" * 500) == [event]
    assert store.append("é" * 500, "k", {}, key="🦊" * 250) == event


def test_streams_differ_by_every_character(store):
    names = ["a", "A", "á", "a\u0301", "a ", "a/", "%", "_", "a%"]
    for name in names:
        assert store.append(name, "k", {}).ver == 1
    with store.backend.read() as view:
        assert view.streams("") == sorted(names)
        assert view.streams("a") == sorted(name for name in names if name.startswith("a"))
        assert view.streams("%") == ["%"]


def test_a_stream_is_read_in_parts(store):
    for number in range(5):
        store.append("a", "k", number)
        store.append("b", "k", -number)
    assert [event.body for event in store.load("a", after=2)] == [2, 3, 4]
    assert [event.body for event in store.load("a", after=1, limit=2)] == [1, 2]
    assert store.load("a", after=5) == store.load("none") == []


def test_all_streams_are_read_in_the_order_of_writing(store):
    positions = [store.append(stream, "k", {}).pos for stream in "abcab"]
    assert positions == sorted(set(positions))
    assert [event.pos for event in store.tail()] == positions
    assert [event.pos for event in store.tail(after=positions[1], limit=2)] == positions[2:4]
    assert [event.pos for event in store.events(page=2)] == positions
    assert store.last() == positions[-1]


def test_an_empty_journal_has_nothing(store):
    assert (store.last(), store.tail(), store.load("a"), store.leases()) == (0, [], [], [])
    with store.backend.read() as view:
        assert (view.count(0), view.streams(""), view.head("a"), view.fence_floor("a")) == (
            0,
            [],
            0,
            0,
        )


def test_a_record_of_a_newer_schema_is_not_guessed_at(kind):
    with kind.open() as store:
        store.append("a", "k", {}, schema=SCHEMA + 1)
        for read in (lambda: store.load("a"), store.tail):
            with pytest.raises(JournalTooNew, match=f"schema {SCHEMA + 1}"):
                read()


def test_several_records_are_written_together(store):
    store.append("a", "k", 0)
    found = store.append_all(
        [Entry(stream=stream, kind="k", body=1, key="x") for stream in ("a", "b", "a")]
    )
    assert [(event.stream, event.ver) for event in found] == [("a", 2), ("b", 1), ("a", 2)]
    assert len(store.tail()) == 3
    assert store.append_all([]) == []


def test_either_all_records_are_written_or_none(store):
    store.append("b", "k", {})
    with pytest.raises(Conflict):
        store.append_all(
            [
                Entry(stream="a", kind="k", body={}, key="x"),
                Entry(stream="b", kind="k", body={}, expect=0),
            ]
        )
    assert written(store) == [("b", 1, "k")]
    assert store.append("a", "k", {}, key="x").ver == 1


def test_records_written_together_build_on_one_another(store):
    entries = [Entry(stream="a", kind="k", body=number, expect=number) for number in range(300)]
    assert [event.ver for event in store.append_all(entries)] == list(range(1, 301))
    assert [event.body for event in store.load("a")] == list(range(300))


def test_an_error_within_a_transaction_takes_everything_back(store):
    lease = grant(store, asking())
    before = written(store), listed_leases(store)
    with pytest.raises(ZeroDivisionError), store.backend.write() as tx:
        tx.insert(Entry(stream="a", kind="k", body={}), 1, "", b"{}")
        tx.drop_lease(lease.fence)
        tx.delete([lease.fence])
        tx.keep_snapshot("s", "c", 1, b"x")
        assert tx.lease(lease.fence) is None and tx.head("a") == 1
        raise ZeroDivisionError
    assert (written(store), listed_leases(store)) == before
    with store.backend.read() as view:
        assert view.snapshot("s", "c") is None


def test_a_transaction_sees_what_it_wrote(store):
    with store.backend.write() as tx:
        first = tx.insert(Entry(stream="a", kind="k", body=1, key="x"), 1, "me", b"1")
        assert (tx.head("a"), tx.last(), tx.keyed("a", "x")) == (1, first.pos, first)
        second = tx.insert(Entry(stream="a", kind="k", body=2, fence=None), 2, "me", b"2")
        assert tx.load("a", 0, None) == tx.tail(0, 10) == [first, second]
        tx.delete([first.pos])
        assert (tx.head("a"), tx.keyed("a", "x"), tx.count(0)) == (2, None, 1)
        tx.keep_snapshot("s", "c", 1, b"one")
        tx.keep_snapshot("s", "c", 2, b"two")
        assert tx.snapshot("s", "c") == (2, b"two")
    assert store.load("a") == [second]


def test_a_transaction_sees_which_leases_it_ended_and_changed(store):
    kept, ended = grant(store, asking("a")), grant(store, asking("b"))
    changed = structs.replace(kept, holder="B")
    with (
        pytest.raises(ZeroDivisionError),
        store.backend.write(Prefetch(leases=True, fences=[ended.fence])) as tx,
    ):
        assert tx.leases() == [kept, ended]
        tx.drop_lease(ended.fence)
        tx.update_lease(changed)
        assert (tx.lease(kept.fence), tx.lease(ended.fence), tx.leases()) == (
            changed,
            None,
            [changed],
        )
        tx.last()  # also once they are sent
        assert (tx.lease(kept.fence), tx.lease(ended.fence), tx.leases()) == (
            changed,
            None,
            [changed],
        )
        raise ZeroDivisionError
    assert store.leases() == [kept, ended]


def test_a_snapshot_counts_only_for_the_code_that_made_it(store):
    with store.backend.write() as tx:
        tx.keep_snapshot("s", "code", 5, b"\0\xff")
    with store.backend.read() as view:
        assert view.snapshot("s", "code") == (5, b"\0\xff")
        assert view.snapshot("s", "other") is view.snapshot("t", "code") is None


def test_positions_are_never_used_again(store):
    last = [store.append("a", "k", {}).pos for _ in range(3)][-1]
    with store.backend.write() as tx:
        tx.delete([last])
    assert store.append("a", "k", {}).pos > last


# Survival


def start_appender(kept: Kind, stream: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, str(APPENDER), *kept.arguments(), stream, str(count)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_what_was_acknowledged_survives_a_kill(kept):
    process = start_appender(kept, "a", 100_000)
    go(process)
    assert process.stdout is not None
    said = [int(process.stdout.readline()) for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    # Not by `communicate`, which leaves out what was read from the pipe along with the lines
    # before.
    rest = process.stdout.read().splitlines(keepends=True)
    process.wait()
    said += [int(line) for line in rest if line.endswith("\n")]
    with kept.open() as store:
        found = [event.ver for event in store.load("a")]
        assert found == list(range(1, len(found) + 1))
        assert said == found[: len(said)] and len(found) <= len(said) + 1
        assert store.append("a", "k", {}).ver == len(found) + 1


def test_a_second_instance_sees_what_the_first_wrote_and_both_go_on(kind):
    with kind.open("one") as one, kind.open("two") as two:
        for number in range(3):
            one.append("a", "k", number)
            assert [event.body for event in two.load("a")][-1] == number
            two.append("b", "k", number, expect=number)
            assert one.load("b")[-1].actor == "two"
        lease = grant(one, asking())
        assert two.leases() == [lease]
        assert refuse(two, asking(holder="B")).blocked_by == lease.fence


def test_a_view_stays_as_it_was_while_others_write(kept):
    with kept.open() as reader, kept.open() as writer:
        lease = grant(writer, asking())
        with reader.backend.read() as view:
            last = view.last()
            writer.append("a", "k", {})
            writer.release(lease.fence)
            assert (view.last(), view.leases(), view.streams("a")) == (last, [lease], [])
        assert reader.last() > last and reader.leases() == []


def test_a_changed_byte_is_found_and_named_and_the_rest_stays_readable(kept):
    with kept.open() as store:
        positions = [
            store.append("a", "k", {"n": number}, key=f"{number}").pos for number in range(3)
        ]
        kept.overwrite_body(positions[1], b'{"n":7}')
        for read in (
            lambda: store.load("a"),
            store.tail,
            lambda: store.append("a", "k", {}, key="1"),
        ):
            with pytest.raises(JournalCorrupt, match=rf"event {positions[1]} \(k on a\)"):
                read()
        assert [event.body for event in store.tail(after=positions[1])] == [{"n": 2}]
        assert [event.body for event in store.load("a", limit=1)] == [{"n": 0}]
        with store.backend.read() as view:
            assert [event.pos for event, crc in view.raw(0, 9) if event.checksum() != crc] == [
                positions[1]
            ]


# Many at once


def versions_are_gapless(store: Store, stream: str, count: int) -> bool:
    return [event.ver for event in store.load(stream)] == list(range(1, count + 1))


def test_threads_that_share_a_store_lose_and_repeat_nothing(store):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: store.append("a", "k", number).ver, range(80)))
    assert sorted(found) == list(range(1, 81))
    assert versions_are_gapless(store, "a", 80)
    assert sorted(event.body for event in store.load("a")) == list(range(80))


def test_threads_with_stores_of_their_own_lose_and_repeat_nothing(kind):
    def work(name: int) -> list[int]:
        with kind.open(f"{name}") as own:
            return [own.append("a", "k", {}).ver for _ in range(10)]

    with ThreadPoolExecutor(6) as pool:
        versions = [version for each in pool.map(work, range(6)) for version in each]
    assert sorted(versions) == list(range(1, 61))


@pytest.mark.sampled(2)
def test_processes_lose_and_repeat_nothing(kept):
    with kept.open() as store:
        processes = [start_appender(kept, "a", 25) for _ in range(4)]
        for process in processes:
            go(process)
        said = [
            int(line)
            for process in processes
            for line in process.communicate(timeout=PATIENCE)[0].splitlines()
        ]
        assert [process.returncode for process in processes] == [0] * 4
        assert sorted(said) == list(range(1, 101))
        assert versions_are_gapless(store, "a", 100)
        assert len({event.actor for event in store.load("a")}) == 4


def test_of_many_who_append_at_one_version_one_succeeds(kind):
    def attempt(name: int) -> bool:
        with kind.open(f"{name}") as own:
            try:
                own.append("a", "k", {}, expect=0)
            except Conflict:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_an_append_to_a_long_journal_costs_no_more_than_to_a_short_one(kind):
    with kind.open() as short, kind.another().open() as long:
        for _ in range(5):
            long.append_all([Entry(stream="a", kind="k", body={}) for _ in range(1000)])
        times: dict[Store, list[float]] = {short: [], long: []}
        for number in range(60):
            for each, spent in times.items():
                begun = time.perf_counter()
                each.append("a", "k", {}, key=f"{number}")
                spent.append(time.perf_counter() - begun)
        assert statistics.median(times[long]) < 5 * statistics.median(times[short])


@pytest.mark.parametrize("same", [True, False], ids=["by the same store", "by another store"])
def test_a_waiter_wakes_when_something_is_written(kind, same):
    with kind.open() as waiting, kind.open() as other:
        before = waiting.append("a", "k", {}).pos
        found: list[bool] = []
        waiter = threading.Thread(target=lambda: found.append(waiting.wait(before, 60)))
        waiter.start()
        time.sleep(0.1)
        assert waiter.is_alive()
        (waiting if same else other).append("b", "k", {})
        waiter.join(PATIENCE)
        assert found == [True]


def test_waiting_ends_with_its_time_and_does_not_begin_when_there_is_news(store):
    assert store.wait(store.last(), 0.05) is False
    pos = store.append("a", "k", {}).pos
    assert store.wait(pos, 0.05) is False
    assert store.wait(pos - 1, 60) is True


def test_several_threads_of_one_store_wait_at_once(store):
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(store.wait, 0, 60) for _ in range(3)]
        time.sleep(0.05)
        store.append("a", "k", {})
        assert [each.result(30) for each in waiting] == [True] * 3
