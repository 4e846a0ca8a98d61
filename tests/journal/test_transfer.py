"""Import of any file of lines, and the journal out of one store and into another."""

import io
import json
import os

import pytest
from hypothesis import given, settings
from lease_histories import DAY_MS, FakeClock, granted, lock, memory_store, play, request, steps
from log_files import K, acquire, exported, keys, moved, rec, written

from dos.errors import BadInput, JournalTooNew, NameInvalid
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, lines, streams
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.check import check
from dos.journal.events.fleet import IdAllocated
from dos.journal.lease_state import Leases
from dos.journal.prune import prune
from dos.journal.store import Store
from dos.journal.transfer import transfer
from dos.journal.transfer.transfer import export, import_lines, imported_records, replay_live_leases

# Importing


def test_importing_twice_changes_nothing(tmp_path):
    path = written(
        tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b"), acquire("b")]
    )
    store = memory_store()
    first = import_lines(store, path)
    assert (first.lines, first.events, first.unreadable, first.live) == (4, 4, 1, 2)
    before = list(store.events())
    again = import_lines(store, path)
    assert (again.lines, again.events, again.unreadable, again.live) == (4, 0, 1, 2)
    assert list(store.events()) == before


def test_a_log_that_has_grown_is_imported_from_where_it_ended(tmp_path):
    path = written(tmp_path / "lane-journal.jsonl", [acquire()], end='\n{"op": "REL')
    store = memory_store()
    assert import_lines(store, path).events == 1
    written(path, [acquire(), rec("RELEASE"), acquire("b")])
    result = import_lines(store, path)
    assert (result.events, result.live) == (2, 1)


def test_logs_of_one_name_are_told_apart_by_another(tmp_path):
    first = written(tmp_path / "lane-journal.jsonl", [acquire()])
    (tmp_path / "other").mkdir()
    second = written(tmp_path / "other" / "lane-journal.jsonl", [rec("CHECKPOINT", leases=[])])
    store = memory_store()
    import_lines(store, first)
    import_lines(store, second, name="other-lane-journal")
    assert keys(replay_live_leases(store)) == [K]


def test_every_run_has_its_own_intent_log(tmp_path):
    store = memory_store()
    for run in ("RID-1", "RID-2"):
        (tmp_path / run).mkdir()
        records = [
            {
                "op": "INTENT",
                "goal": "ship",
                "run_id": run,
                "schema": {"family": "intent-ledger", "version": 1},
            },
            {
                "op": "STEP_CLAIMED",
                "step_id": "s1",
                "schema": {"family": "intent-ledger", "version": 2},
            },
            {"op": "STEP_VERIFIED", "step_id": "s1", "schema": {"family": "recipes", "version": 1}},
            "garbage",
            {"op": "SUSPEND", "reason": "night"},
        ]
        result = import_lines(store, written(tmp_path / run / "intent.jsonl", records))
        assert (result.events, result.unreadable, result.live) == (5, 3, 0)
    records = list(imported_records(store, "RID-2/intent.jsonl"))
    assert [record["op"] for record in records] == [
        "INTENT",
        "_CORRUPT",
        "_CORRUPT",
        "_CORRUPT",
        "SUSPEND",
    ]
    assert [record.get("_unreadable") for record in records[1:4]] == [
        {"readability": "UNREADABLE_NEWER"},
        {"readability": "WRONG_FAMILY"},
        None,
    ]
    assert replay_live_leases(store) == []


def test_lines_are_split_at_line_feeds_only_and_bad_bytes_are_replaced(tmp_path):
    path = tmp_path / "lane-journal.jsonl"
    owner = "a\u2028b\u0085c"
    good = json.dumps(acquire(holder=owner), ensure_ascii=False).encode()
    bad = json.dumps(acquire("b", holder="x?y")).encode().replace(b"?", b"\xff")
    path.write_bytes(good + b"\n" + bad + b"\n\xff\xfe\x00\n" + good + b"\n")
    store = memory_store()
    assert import_lines(store, path).unreadable == 1
    assert [lease["holder"] for lease in replay_live_leases(store)] == [owner, "x\ufffdy"]
    assert [r["_raw"] for r in imported_records(store, path.name) if r["op"] == "_CORRUPT"] == [
        "\\xff\\xfe\\x00"
    ]


def test_a_line_that_is_nested_too_deeply_is_kept_as_text(tmp_path):
    deep = '{"op": "ACQUIRE", "lane": "a", "tree": ' + "[" * 200 + "]" * 200 + "}"
    deeper = deep.replace("[]", "[" * 50_000 + "]" * 50_000)
    number = '{"op": "ACQUIRE", "lane": "a", "pid": ' + "9" * 5000 + "}"
    store = memory_store()
    result = import_lines(store, written(tmp_path / "log.jsonl", [deep, deeper, number, acquire()]))
    assert (result.unreadable, result.live) == (3, 1)


def test_zeros_at_the_end_of_a_log_are_a_torn_line(tmp_path):
    path = written(tmp_path / "lane-journal.jsonl", [acquire()])
    with path.open("ab") as file:
        file.write(bytes(100))
    result = import_lines(memory_store(), path)
    assert (result.events, result.unreadable, result.live) == (1, 0, 1)


def test_many_lines_are_written_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "BATCH_LINES", 7)
    write, sizes = transfer._write, []
    monkeypatch.setattr(
        transfer, "_write", lambda store, batch: (sizes.append(len(batch)), write(store, batch))[1]
    )
    store = memory_store()
    result = import_lines(
        store, written(tmp_path / "log.jsonl", [acquire(f"lane{n}") for n in range(50)])
    )
    assert (result.events, result.live) == (50, 50)
    assert sizes == [7] * 7 + [1]
    assert check(store).problems == []


def _directory(path):
    path.mkdir()


def _database(path):
    path.write_bytes(b"SQLite format 3\0" + bytes(1000))


def _picture(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100))


def _huge(path):
    with path.open("wb") as file:
        file.truncate(lines.LARGEST_FILE + 1)


def _long_line(path):
    path.write_bytes(b'{"op": "' + b"x" * (lines.LONGEST_LINE + 10))


def _pipe(path):
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "No such file"),
        (_directory, "is not a file"),
        (_pipe, "is not a file"),
        (_database, "is not a text file"),
        (_picture, "is not a text file"),
        (_huge, "at most 1073741824 are imported"),
        (_long_line, "the line is longer than"),
    ],
)
def test_what_is_no_file_of_lines_is_refused(tmp_path, make, told):
    make(tmp_path / "log.jsonl")
    store = memory_store()
    with pytest.raises(BadInput, match=told) as caught:
        import_lines(store, tmp_path / "log.jsonl")
    assert "log.jsonl" in str(caught.value)
    assert caught.value.hint
    assert store.last() == 0


def test_a_name_that_cannot_be_stored_is_refused(tmp_path):
    with pytest.raises(NameInvalid):
        import_lines(memory_store(), written(tmp_path / "a\nb", [acquire()]))


# Our own lines


def test_a_line_has_all_of_an_event():
    store = memory_store()
    lease = granted(store, request())
    store.append(
        "run/1", "step", {"text": "a\u2028b\u0085c\u2029d\x0be é"}, key="k", fence=lease.fence
    )
    assert exported(store)[1] == {
        "pos": 2, "stream": "run/1", "ver": 1, "kind": "step",
        "at": "2023-11-14T22:13:20.000Z", "at_ms": 1_700_000_000_000,
        "actor": "test", "fence": 1, "key": "k", "schema": 1,
        "body": {"text": "a\u2028b\u0085c\u2029d\x0be é"},
    }  # fmt: skip


def test_an_export_can_begin_anywhere_and_follow_one_stream(monkeypatch):
    monkeypatch.setattr(transfer, "PAGE", 2)
    store = memory_store()
    for number in range(6):
        store.append(streams.run(number % 2), "step", number)
    assert [line["body"] for line in exported(store, after=4)] == [4, 5]
    assert [line["body"] for line in exported(store, stream="run/1")] == [1, 3, 5]
    assert [line["body"] for line in exported(store, stream="run/1", after=2)] == [3, 5]


def test_an_unknown_shape_is_refused():
    with pytest.raises(BadInput, match="shape 'xml'"):
        export(memory_store(), io.StringIO(), shape="xml")


def test_events_move_to_another_journal_with_their_time_their_actor_and_their_key(tmp_path):
    clock = FakeClock()
    source = memory_store(clock)
    lease = granted(source, request())
    source.append("run/1", "step", {"n": 1}, key="first", fence=lease.fence)
    source.record("ids", IdAllocated(scope="x", id=7))
    clock.advance(DAY_MS)
    target = Store(memory_store(clock).backend, actor="importer")
    result = import_lines(target, moved(tmp_path, source))
    assert (result.lines, result.events, result.unreadable, result.live) == (3, 3, 0, 0)
    assert target.leases() == []
    assert check(target).problems == []
    assert target.load("lane/api") == []
    step = target.load("run/1")[0]
    assert (step.body, step.at_ms, step.actor, step.key, step.fence) == (
        {"n": 1}, clock.wall_ms() - DAY_MS, "test", "first", None,
    )  # fmt: skip
    assert target.append("run/1", "step", {"n": 1}, key="first") == step
    assert [record["kind"] for record in imported_records(target, "export.jsonl")] == [
        "lease_granted"
    ]


def test_our_own_lines_imported_twice_change_nothing(tmp_path):
    source, target = memory_store(), memory_store()
    granted(source, request())
    for number in range(3):
        source.append("run/1", "step", number)
    path = moved(tmp_path, source)
    import_lines(target, path)
    before = list(target.events())
    assert import_lines(target, path).events == 0
    assert (
        import_lines(target, path.rename(tmp_path / "renamed.jsonl")).events == 1
    )  # the grant, in another file
    assert [event for event in target.events() if event.stream == "run/1"] == before[1:]


def test_a_journal_that_reads_its_own_export_does_not_change(tmp_path):
    store = memory_store()
    store.release(granted(store, request()).fence)
    for number in range(3):
        store.append("run/1", "step", number)
    before = list(store.events())
    assert import_lines(store, moved(tmp_path, store)).events == 0
    assert list(store.events()) == before


def test_an_imported_log_stays_imported_when_its_journal_moves(tmp_path):
    source, target = memory_store(), memory_store()
    import_lines(
        source, written(tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b")])
    )
    import_lines(target, moved(tmp_path, source))
    assert replay_live_leases(target) == replay_live_leases(source)
    assert len(replay_live_leases(target)) == 2


@settings(deadline=None, max_examples=60)
@given(history=steps)
def test_what_moves_folds_as_it_did_but_for_the_leases(tmp_path_factory, history):
    clock = FakeClock()
    source, target = memory_store(clock), memory_store(clock)
    play(source, clock, history)
    import_lines(target, moved(tmp_path_factory.mktemp("moved"), source))

    def others(store):
        kept = (event for event in store.events() if not event.kind.startswith(("lease_", "line_")))
        return [
            (event.stream, event.ver, event.kind, event.at_ms, event.actor, event.raw)
            for event in kept
        ]

    assert sorted(others(target)) == sorted(others(source))
    assert fold.current(target, Leases)[0].live == {}
    assert check(target).problems == []


def test_a_line_that_would_stop_every_fold_is_kept_as_unreadable(tmp_path):
    source, target = memory_store(), memory_store()
    source.record("ids", IdAllocated(scope="x", id=7))
    path = moved(tmp_path, source)
    path.write_text(path.read_text().replace('"id":7', '"id":"seven"'))
    assert import_lines(target, path).unreadable == 1
    fold.current(target, FleetState)


@pytest.mark.parametrize(
    "change",
    [
        ("at_ms", -1),
        ("at_ms", 1 << 60),
        ("ver", 0),
        ("ver", 1 << 70),
        ("stream", ""),
        ("stream", "a\0b"),
        ("key", "k" * 2000),
    ],
)
def test_a_line_of_ours_with_impossible_values_is_kept_as_unreadable(tmp_path, change):
    source, target = memory_store(), memory_store()
    source.append("run/1", "step", {})
    line = json.loads(moved(tmp_path, source).read_text()) | dict([change])
    assert import_lines(target, written(tmp_path / "x.jsonl", [line])).unreadable == 1


def test_lines_of_a_newer_version_are_refused(tmp_path):
    source = memory_store()
    source.append("run/1", "step", {})
    line = json.loads(moved(tmp_path, source).read_text()) | {"schema": 9}
    with pytest.raises(JournalTooNew, match=r"line 1 of x\.jsonl has schema 9"):
        import_lines(memory_store(), written(tmp_path / "x.jsonl", [line]))


def test_what_another_journal_has_removed_excuses_no_gap_in_this_one(tmp_path):
    clock = FakeClock()
    source, target = memory_store(clock), memory_store(clock)
    source.release(granted(source, lock()).fence)
    granted(source, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    prune(source, older_than_ms=0, now_ms=clock.wall_ms())
    import_lines(target, moved(tmp_path, source))
    with source.backend.read() as there, target.backend.read() as here:
        assert (fold.pruned_through(there), fold.pruned_through(here)) == (3, 0)


def test_an_archive_of_a_pruning_can_be_imported(tmp_path):
    clock = FakeClock()
    source = memory_store(clock)
    source.release(granted(source, lock()).fence)
    granted(source, lock(holder="B"))
    clock.advance(2 * DAY_MS)
    pruned = prune(source, older_than_ms=0, now_ms=clock.wall_ms(), archive=tmp_path)
    target = memory_store(clock)
    [archived] = tmp_path.glob("*.jsonl")
    assert str(archived) == pruned.archived_to
    assert import_lines(target, archived).events == 2


def test_the_embedded_store_imports_as_memory_does(tmp_path):
    path = written(
        tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b"), rec("RELEASE")]
    )
    with Store(SqliteBackend(tmp_path / "state.db")) as store:
        assert import_lines(store, path).events == 4
        assert import_lines(store, path).events == 0
        assert keys(replay_live_leases(store)) == [("t1", "b")]
        assert check(store).problems == []


def test_the_shared_store_imports_as_memory_does(tmp_path, postgres):
    from dos.journal.backends.postgres import PostgresBackend

    source = memory_store()
    granted(source, request())
    source.append("run/1", "step", {"zero": "\0"}, key="first")
    path = written(
        tmp_path / "lane-journal.jsonl",
        [acquire(holder="a\0b"), "garb\0age", acquire("b"), rec("RELEASE")],
    )
    with Store(PostgresBackend(postgres.createdb("transfer"), workspace="w")) as store:
        assert import_lines(store, path).events == 4
        assert import_lines(store, path).events == 0
        assert keys(replay_live_leases(store)) == [("t1", "b")]
        assert import_lines(store, moved(tmp_path, source)).events == 2
        assert import_lines(store, tmp_path / "export.jsonl").events == 0
        assert [event.at_ms for event in store.load("run/1")] == [
            event.at_ms for event in source.load("run/1")
        ]
        assert check(store).problems == []
        assert len(exported(store)) == 6
