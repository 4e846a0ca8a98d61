"""Export and import: our own lines, and the logs of released versions by their golden cases."""

import io
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lease_histories import DAY_MS, FakeClock, admit, granted, lock, memory_store, play, request, steps

from dos.errors import BadInput, JournalTooNew, NameInvalid
from dos.journal import fold, transfer
from dos.journal.backends.sqlite import SqliteBackend
from dos.journal.checking import check
from dos.journal.events import IdAllocated, LeaseRefused
from dos.journal.released import next_seq, readability, released_shape, replay
from dos.journal.retention import prune
from dos.journal.states.fleet import Fleet
from dos.journal.states.leases import Leases
from dos.journal.store import Store
from dos.journal.transfer import export, import_lines, imported, replayed

T, HB = "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"


def rec(op, lane="api", loop_ts="t1", **fields):
    return {"op": op, "lane": lane, "loop_ts": loop_ts, **fields}


def acquire(lane="api", loop_ts="t1", **body):
    lease = {"lane": lane, "loop_ts": loop_ts, "lane_kind": "cluster", "tree": [f"{lane}/**"], **body}
    return rec("ACQUIRE", lane, loop_ts, lease=lease)


def written(path, records, end="\n"):
    lines = [record if isinstance(record, str) else json.dumps(record, sort_keys=True) for record in records]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def through_a_file(tmp_path, records, end="\n"):
    """The live set by way of a real file, an import and the journal."""
    store = memory_store()
    import_lines(store, written(tmp_path / "lane-journal.jsonl", records, end))
    live = replayed(store)
    assert all(lease.pop("imported") for lease in live)
    return store, live


def keys(live):
    return [(lease.get("loop_ts"), lease.get("lane")) for lease in live]


K = ("t1", "api")
DEAF = [rec(op) for op in ("REFUSE", "HALT", "ENFORCE", "ATTEMPT", "SPAWN", "NOVELTY", "_CORRUPT")]


@pytest.mark.parametrize(
    ("number", "records", "live", "shown"),
    [
        (1, [acquire()], [K], {}),
        (2, [acquire(), rec("RELEASE")], [], {}),
        (3, [acquire(), rec("SCAVENGE")], [], {}),
        (4, [acquire(), rec("RELEASE", loop_ts="t2")], [K], {}),
        (5, [rec("RELEASE"), acquire()], [K], {}),
        (6, [acquire(holder="H"), acquire("b"), acquire(holder="H2")], [K, ("t1", "b")], {"holder": "H2"}),
        (7, [acquire(), acquire(loop_ts="t2")], [K, ("t2", "api")], {}),
        (8, [acquire("a"), acquire("b"), rec("RELEASE", "a"), acquire("a")], [("t1", "b"), ("t1", "a")], {}),
        (9, [acquire(), rec("HEARTBEAT", heartbeat_at=HB, ts=T)], [K], {"heartbeat_at": HB}),
        (10, [acquire(), rec("HEARTBEAT", ts=T)], [K], {"heartbeat_at": T}),
        (11, [rec("HEARTBEAT", heartbeat_at=HB)], [], {}),
        (
            12,
            [acquire(pid=1, host_id="h1"), rec("ADOPT", holder="N", pid=2, host_id="h2", heartbeat_at=HB)],
            [K],
            {"holder": "N", "pid": 2, "host_id": "h2", "heartbeat_at": HB, "tree": ["api/**"]},
        ),
        (13, [acquire(pid=1, holder="H"), rec("ADOPT", holder="N", pid=None)], [K], {"holder": "N", "pid": 1}),
        (14, [rec("ADOPT", holder="N")], [], {}),
        (14, [acquire(), rec("RELEASE"), rec("ADOPT", holder="N")], [], {}),
        (14, [acquire(), rec("SCAVENGE"), rec("ADOPT", holder="N")], [], {}),
        (15, [acquire(holder="H"), *DEAF], [K], {"holder": "H"}),
        (16, [acquire("old"), rec("CHECKPOINT", leases=[{"lane": "n", "loop_ts": "t9"}])], [("t9", "n")], {}),
        (
            17,
            [rec("CHECKPOINT", leases=[{"lane": "n", "loop_ts": "t9"}]), acquire(), rec("RELEASE", "n", "t9")],
            [K],
            {},
        ),
        (18, [acquire(), rec("CHECKPOINT", leases="x")], [], {}),
        (
            19,
            [rec("RECONCILE", tree=["api/**"], pid=4, holder="H", reason="lost")],
            [K],
            {"lane": "api", "loop_ts": "t1", "tree": ["api/**"], "pid": 4, "holder": "H"},
        ),
        (20, [{"op": "ACQUIRE", "holder": "H"}], [], {}),
        (21, [acquire(loop_ts="")], [("", "api")], {}),
        (22, [rec("acquire")], [], {}),
        (23, [acquire(), "garbage", "", "[1,2]", acquire("b"), '{"op": "REL'], [K, ("t1", "b")], {}),
        (24, [rec("SPAWN"), acquire()], [K], {}),
        (25, [acquire(), acquire("b"), rec("CHECKPOINT", leases=[], seq_watermark=41)], [], {}),
        (
            26,
            [acquire(), rec("CHECKPOINT", leases=[], seq_watermark=41), {**acquire("b"), "seq": 5}],
            [("t1", "b")],
            {},
        ),
        (27, [rec("ACQUIRE", loop_ts="t2", lease={"lane": "docs", "loop_ts": "t2"})], [], {}),
    ],
)
def test_golden_cases_of_replay(tmp_path, number, records, live, shown):
    _, found = through_a_file(tmp_path, records)
    assert keys(found) == live
    if shown:
        assert {name: found[0].get(name) for name in shown} == shown
    if number == 19:
        assert found == [shown]


def test_the_golden_file_reads_as_good_corrupt_good(tmp_path):
    store, _ = through_a_file(tmp_path, [acquire(), "garbage", "", "[1,2]", acquire("b"), '{"op": "REL'], end="")
    records = list(imported(store, "lane-journal.jsonl"))
    assert [record["op"] for record in records] == ["ACQUIRE", "_CORRUPT", "ACQUIRE"]
    assert (records[1]["_raw"], records[1]["_line"]) == ("garbage", 2)


@pytest.mark.parametrize(
    ("records", "following"),
    [
        ([], 1),
        ([acquire(), acquire("b")], 1),
        ([{**acquire(), "seq": 1}, {**acquire("b"), "seq": 2}], 3),
        ([{**acquire(), "seq": 1}, {**acquire("b"), "seq": 2}, rec("CHECKPOINT", leases=[], seq_watermark=41)], 42),
        ([rec("CHECKPOINT", leases=[], seq_watermark=41), {**acquire(), "seq": 5}], 42),
        ([{"seq": "x"}, {"seq": None}, {"seq": [1]}, {"seq": True}, {"seq": 3.0}], 4),
    ],
)
def test_the_next_number_of_a_log_follows_its_highest(tmp_path, records, following):
    store = memory_store()
    import_lines(store, written(tmp_path / "lane-journal.jsonl", records))
    assert next_seq(imported(store, "lane-journal.jsonl")) == following


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["t1", "api"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ops = st.sampled_from(["ACQUIRE", "RELEASE", "HEARTBEAT", "SCAVENGE", "RECONCILE", "ADOPT", "CHECKPOINT"])
names = ("lane", "loop_ts", "lease", "leases", "holder", "pid", "heartbeat_at", "ts", "seq", "seq_watermark")
wild = st.fixed_dictionaries({}, optional={"op": ops | anything, **dict.fromkeys(names, anything)})


@given(records=st.lists(wild | anything, max_size=8))
def test_replay_takes_anything_and_changes_nothing(records):
    before = repr(records)
    live = replay(records)
    assert all(isinstance(lease, dict) for lease in live)
    assert next_seq(records) >= 1
    assert repr(records) == before


@pytest.mark.parametrize(
    "value", [10**5000, {"a": 1}, [1], float("nan"), float("inf"), True], ids=lambda value: type(value).__name__
)
def test_replay_takes_names_that_are_no_names(value):
    assert replay([rec("ACQUIRE", value, value), rec("CHECKPOINT", leases=[{"lane": value}])]) == []


@pytest.mark.parametrize(
    ("tag", "answer"),
    [
        (None, "UNTAGGED"),
        ("x", "UNTAGGED"),
        ({"family": "lane-journal"}, "UNTAGGED"),
        (1, "READABLE"),
        (2, "UNREADABLE_NEWER"),
        ({"family": "lane-journal", "version": 1}, "READABLE"),
        ({"family": "intent-ledger", "version": 2}, "UNREADABLE_NEWER"),
        ({"family": "recipes", "version": 1}, "WRONG_FAMILY"),
    ],
)
def test_a_schema_tag_says_who_may_read(tag, answer):
    assert readability({"schema": tag}) == answer


# Importing


def test_importing_twice_changes_nothing(tmp_path):
    path = written(tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b"), acquire("b")])
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
    found = import_lines(store, path)
    assert (found.events, found.live) == (2, 1)


def test_logs_of_one_name_are_told_apart_by_another(tmp_path):
    first = written(tmp_path / "lane-journal.jsonl", [acquire()])
    (tmp_path / "other").mkdir()
    second = written(tmp_path / "other" / "lane-journal.jsonl", [rec("CHECKPOINT", leases=[])])
    store = memory_store()
    import_lines(store, first)
    import_lines(store, second, name="other-lane-journal")
    assert keys(replayed(store)) == [K]


def test_every_run_has_its_own_intent_log(tmp_path):
    store = memory_store()
    for run in ("RID-1", "RID-2"):
        (tmp_path / run).mkdir()
        records = [
            {"op": "INTENT", "goal": "ship", "run_id": run, "schema": {"family": "intent-ledger", "version": 1}},
            {"op": "STEP_CLAIMED", "step_id": "s1", "schema": {"family": "intent-ledger", "version": 2}},
            {"op": "STEP_VERIFIED", "step_id": "s1", "schema": {"family": "recipes", "version": 1}},
            "garbage",
            {"op": "SUSPEND", "reason": "night"},
        ]
        found = import_lines(store, written(tmp_path / run / "intent.jsonl", records))
        assert (found.events, found.unreadable, found.live) == (5, 3, 0)
    records = list(imported(store, "RID-2/intent.jsonl"))
    assert [record["op"] for record in records] == ["INTENT", "_CORRUPT", "_CORRUPT", "_CORRUPT", "SUSPEND"]
    assert [record.get("_unreadable") for record in records[1:4]] == [
        {"readability": "UNREADABLE_NEWER"},
        {"readability": "WRONG_FAMILY"},
        None,
    ]
    assert replayed(store) == []


def test_lines_are_split_at_line_feeds_only_and_bad_bytes_are_replaced(tmp_path):
    path = tmp_path / "lane-journal.jsonl"
    owner = "a\u2028b\u0085c"
    good = json.dumps(acquire(holder=owner), ensure_ascii=False).encode()
    bad = json.dumps(acquire("b", holder="x?y")).encode().replace(b"?", b"\xff")
    path.write_bytes(good + b"\n" + bad + b"\n\xff\xfe\x00\n" + good + b"\n")
    store = memory_store()
    assert import_lines(store, path).unreadable == 1
    assert [lease["holder"] for lease in replayed(store)] == [owner, "x\ufffdy"]
    assert [r["_raw"] for r in imported(store, path.name) if r["op"] == "_CORRUPT"] == ["\\xff\\xfe\\x00"]


def test_zeros_at_the_end_of_a_log_are_a_torn_line(tmp_path):
    path = written(tmp_path / "lane-journal.jsonl", [acquire()])
    with path.open("ab") as file:
        file.write(bytes(100))
    found = import_lines(memory_store(), path)
    assert (found.events, found.unreadable, found.live) == (1, 0, 1)


def test_many_lines_are_written_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "BATCH_LINES", 7)
    store = memory_store()
    found = import_lines(store, written(tmp_path / "log.jsonl", [acquire(f"lane{n}") for n in range(50)]))
    assert (found.events, found.live) == (50, 50)
    assert check(store).problems == []


def _directory(path):
    path.mkdir()


def _database(path):
    path.write_bytes(b"SQLite format 3\0" + bytes(1000))


def _picture(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100))


def _huge(path):
    with path.open("wb") as file:
        file.truncate(transfer.LARGEST_FILE + 1)


def _long_line(path):
    path.write_bytes(b'{"op": "' + b"x" * (transfer.LONGEST_LINE + 10))


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


def exported(store, **options):
    text = io.StringIO()
    count = export(store, text, **options)
    lines = text.getvalue().split("\n")[:-1]
    assert len(lines) == count
    assert lines == text.getvalue().splitlines()
    return [json.loads(line) for line in lines]


def test_a_line_has_all_of_an_event():
    store = memory_store()
    lease = granted(store, request())
    store.append("run/1", "step", {"text": "a\u2028b\u0085c\u2029d\x0be é"}, key="k", fence=lease.fence)
    assert exported(store)[1] == {
        "pos": 2, "stream": "run/1", "ver": 1, "kind": "step",
        "at": "2023-11-14T22:13:20.000Z", "at_ms": 1_700_000_000_000,
        "actor": "test", "fence": 1, "key": "k", "schema": 1, "body": {"text": "a\u2028b\u0085c\u2029d\x0be é"},
    }  # fmt: skip


def test_an_export_can_begin_anywhere_and_follow_one_stream(monkeypatch):
    monkeypatch.setattr(transfer, "PAGE", 2)
    store = memory_store()
    for number in range(6):
        store.append(f"run/{number % 2}", "step", number)
    assert [line["body"] for line in exported(store, after=4)] == [4, 5]
    assert [line["body"] for line in exported(store, stream="run/1")] == [1, 3, 5]
    assert [line["body"] for line in exported(store, stream="run/1", after=2)] == [3, 5]


def test_an_unknown_shape_is_refused():
    with pytest.raises(BadInput, match="shape 'xml'"):
        export(memory_store(), io.StringIO(), shape="xml")


def moved(tmp_path, source, name="export.jsonl"):
    with (tmp_path / name).open("w", encoding="utf-8") as file:
        export(source, file)
    return tmp_path / name


def test_events_move_to_another_journal_with_their_time_their_actor_and_their_key(tmp_path):
    clock = FakeClock()
    source = memory_store(clock)
    lease = granted(source, request())
    source.append("run/1", "step", {"n": 1}, key="first", fence=lease.fence)
    source.record("ids", IdAllocated(scope="x", id=7))
    clock.advance(DAY_MS)
    target = Store(memory_store(clock).backend, actor="importer")
    found = import_lines(target, moved(tmp_path, source))
    assert (found.lines, found.events, found.unreadable, found.live) == (3, 3, 0, 0)
    assert target.leases() == []
    assert check(target).problems == []
    assert target.load("lane/api") == []
    step = target.load("run/1")[0]
    assert (step.body, step.at_ms, step.actor, step.key, step.fence) == (
        {"n": 1}, clock.wall_ms() - DAY_MS, "test", "first", None,
    )  # fmt: skip
    assert target.append("run/1", "step", {"n": 1}, key="first") == step
    assert [record["kind"] for record in imported(target, "export.jsonl")] == ["lease_granted"]


def test_our_own_lines_imported_twice_change_nothing(tmp_path):
    source, target = memory_store(), memory_store()
    granted(source, request())
    for number in range(3):
        source.append("run/1", "step", number)
    path = moved(tmp_path, source)
    import_lines(target, path)
    before = list(target.events())
    assert import_lines(target, path).events == 0
    assert import_lines(target, path.rename(tmp_path / "renamed.jsonl")).events == 1  # the grant, in another file
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
    import_lines(source, written(tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b")]))
    import_lines(target, moved(tmp_path, source))
    assert replayed(target) == replayed(source)
    assert len(replayed(target)) == 2


@settings(deadline=None, max_examples=60)
@given(history=steps)
def test_what_moves_folds_as_it_did_but_for_the_leases(tmp_path_factory, history):
    clock = FakeClock()
    source, target = memory_store(clock), memory_store(clock)
    play(source, clock, history)
    import_lines(target, moved(tmp_path_factory.mktemp("moved"), source))

    def others(store):
        kept = (event for event in store.events() if not event.kind.startswith(("lease_", "line_")))
        return [(event.stream, event.ver, event.kind, event.at_ms, event.actor, event.raw) for event in kept]

    assert sorted(others(target)) == sorted(others(source))
    assert fold.current(target, Leases)[0].live == {}
    assert check(target).problems == []


def test_a_line_that_would_stop_every_fold_is_kept_as_unreadable(tmp_path):
    source, target = memory_store(), memory_store()
    source.record("ids", IdAllocated(scope="x", id=7))
    path = moved(tmp_path, source)
    path.write_text(path.read_text().replace('"id":7', '"id":"seven"'))
    assert import_lines(target, path).unreadable == 1
    fold.current(target, Fleet)


@pytest.mark.parametrize("change", [("at_ms", -1), ("at_ms", 1 << 60), ("ver", 0), ("ver", 1 << 70), ("stream", "")])
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
    path = written(tmp_path / "lane-journal.jsonl", [acquire(), "garbage", acquire("b"), rec("RELEASE")])
    with Store(SqliteBackend(tmp_path / "state.db")) as store:
        assert import_lines(store, path).events == 4
        assert import_lines(store, path).events == 0
        assert keys(replayed(store)) == [("t1", "b")]
        assert check(store).problems == []


# The shape of the released lane log


def test_a_lease_in_the_released_shape():
    clock = FakeClock()
    store = memory_store(clock)
    lease = granted(store, request(pid=7, run_id="r1", ttl_ms=90_000))
    clock.advance(61_000)
    store.renew([lease.fence])
    granted(store, lock())
    assert replayed(store) == [
        {
            "lane": "api",
            "lane_kind": "cluster",
            "tree": ["api/**"],
            "loop_ts": "t-A",
            "holder": "A",
            "host_id": "h1",
            "pid": 7,
            "acquired_at": "2023-11-14T22:13:20Z",
            "heartbeat_at": "2023-11-14T22:14:21Z",
            "ttl_minutes": 1.5,
            "run_id": "r1",
        }
    ]


def test_lease_events_become_the_records_of_the_released_log():
    clock = FakeClock()
    store = memory_store(clock)
    first = granted(store, request(pid=1))
    store.renew([first.fence])
    second = store.adopt(first.fence, request(holder="B", loop_ts="t-A", pid=2), version=2)
    store.record("lane/api", LeaseRefused(lane="api", holder="C", reason_class="LANE_HELD", reason="held"))
    store.release(second.fence, "done")
    third = granted(store, request(holder="D"))
    store.revoke(third.fence, version=third.version, reason="stalled")
    granted(store, request(holder="E"))
    clock.advance(DAY_MS)
    granted(store, request(holder="F"))
    granted(store, lock())
    records = exported(store, shape="lane-journal")
    assert [record["op"] for record in records] == [
        "ACQUIRE", "HEARTBEAT", "ADOPT", "REFUSE", "RELEASE", "ACQUIRE", "SCAVENGE", "ACQUIRE", "SCAVENGE", "ACQUIRE",
    ]  # fmt: skip
    assert [record["seq"] for record in records] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert all(record["ts"].endswith("Z") for record in records)
    assert [list(record) == sorted(record) for record in records] == [True] * 10
    assert records[2]["prev_holder"] == "A"
    assert records[6]["reason"] == "stalled"
    assert exported(store, shape="lane-journal", after=9) == records[9:]


@settings(deadline=None, max_examples=100)
@given(history=steps)
def test_the_exported_lane_log_replays_to_the_live_leases(history):
    clock = FakeClock()
    store = memory_store(clock)
    play(store, clock, history)
    facts = ("lane", "loop_ts", "holder", "tree", "lane_kind", "ttl_minutes")

    def told(lease):
        return [lease[name] for name in facts]

    replayed_log = replay(exported(store, shape="lane-journal"))
    assert sorted(map(told, replayed_log)) == sorted(told(released_shape(lease)) for lease in store.leases())


def test_a_refusal_without_an_event_is_not_exported():
    store = memory_store()
    granted(store, request())
    store.acquire(request(holder="B"), admit)
    assert [record["op"] for record in exported(store, shape="lane-journal")] == ["ACQUIRE"]
