"""The logs of released versions, by their golden cases: through a real file, an import and the
journal."""

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
from log_files import K, acquire, exported, keys, rec, written

from dos.journal.events.lanes import LeaseRefused
from dos.journal.transfer.lane_log import lane_log_lease, next_seq, readability, replay
from dos.journal.transfer.transfer import import_lines, imported_records, replay_live_leases

T, HB = "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"


def through_a_file(tmp_path, records, end="\n"):
    """The live set by way of a real file, an import and the journal."""
    store = memory_store()
    import_lines(store, written(tmp_path / "lane-journal.jsonl", records, end))
    live = replay_live_leases(store)
    assert all(lease.pop("imported") for lease in live)
    return store, live


DEAF = [rec(op) for op in ("REFUSE", "HALT", "ENFORCE", "ATTEMPT", "SPAWN", "NOVELTY", "_CORRUPT")]


@pytest.mark.parametrize(
    ("number", "records", "live", "shown"),
    [
        (1, [acquire()], [K], {}),
        (2, [acquire(), rec("RELEASE")], [], {}),
        (3, [acquire(), rec("SCAVENGE")], [], {}),
        (4, [acquire(), rec("RELEASE", loop_ts="t2")], [K], {}),
        (5, [rec("RELEASE"), acquire()], [K], {}),
        (
            6,
            [acquire(holder="H"), acquire("b"), acquire(holder="H2")],
            [K, ("t1", "b")],
            {"holder": "H2"},
        ),
        (7, [acquire(), acquire(loop_ts="t2")], [K, ("t2", "api")], {}),
        (
            8,
            [acquire("a"), acquire("b"), rec("RELEASE", "a"), acquire("a")],
            [("t1", "b"), ("t1", "a")],
            {},
        ),
        (9, [acquire(), rec("HEARTBEAT", heartbeat_at=HB, ts=T)], [K], {"heartbeat_at": HB}),
        (10, [acquire(), rec("HEARTBEAT", ts=T)], [K], {"heartbeat_at": T}),
        (11, [rec("HEARTBEAT", heartbeat_at=HB)], [], {}),
        (
            12,
            [
                acquire(pid=1, host_id="h1"),
                rec("ADOPT", holder="N", pid=2, host_id="h2", heartbeat_at=HB),
            ],
            [K],
            {"holder": "N", "pid": 2, "host_id": "h2", "heartbeat_at": HB, "tree": ["api/**"]},
        ),
        (
            13,
            [acquire(pid=1, holder="H"), rec("ADOPT", holder="N", pid=None)],
            [K],
            {"holder": "N", "pid": 1},
        ),
        (14, [rec("ADOPT", holder="N")], [], {}),
        (14, [acquire(), rec("RELEASE"), rec("ADOPT", holder="N")], [], {}),
        (14, [acquire(), rec("SCAVENGE"), rec("ADOPT", holder="N")], [], {}),
        (15, [acquire(holder="H"), *DEAF], [K], {"holder": "H"}),
        (
            16,
            [acquire("old"), rec("CHECKPOINT", leases=[{"lane": "n", "loop_ts": "t9"}])],
            [("t9", "n")],
            {},
        ),
        (
            17,
            [
                rec("CHECKPOINT", leases=[{"lane": "n", "loop_ts": "t9"}]),
                acquire(),
                rec("RELEASE", "n", "t9"),
            ],
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
        (
            23,
            [acquire(), "garbage", "", "[1,2]", acquire("b"), '{"op": "REL'],
            [K, ("t1", "b")],
            {},
        ),
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
    store, _ = through_a_file(
        tmp_path, [acquire(), "garbage", "", "[1,2]", acquire("b"), '{"op": "REL'], end=""
    )
    records = list(imported_records(store, "lane-journal.jsonl"))
    assert [record["op"] for record in records] == ["ACQUIRE", "_CORRUPT", "ACQUIRE"]
    assert (records[1]["_raw"], records[1]["_line"]) == ("garbage", 2)


@pytest.mark.parametrize(
    ("records", "following"),
    [
        ([], 1),
        ([acquire(), acquire("b")], 1),
        ([{**acquire(), "seq": 1}, {**acquire("b"), "seq": 2}], 3),
        (
            [
                {**acquire(), "seq": 1},
                {**acquire("b"), "seq": 2},
                rec("CHECKPOINT", leases=[], seq_watermark=41),
            ],
            42,
        ),
        ([rec("CHECKPOINT", leases=[], seq_watermark=41), {**acquire(), "seq": 5}], 42),
        ([{"seq": "x"}, {"seq": None}, {"seq": [1]}, {"seq": True}, {"seq": 3.0}], 4),
    ],
)
def test_the_next_number_of_a_log_follows_its_highest(tmp_path, records, following):
    store = memory_store()
    import_lines(store, written(tmp_path / "lane-journal.jsonl", records))
    assert next_seq(imported_records(store, "lane-journal.jsonl")) == following


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["t1", "api"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
ops = st.sampled_from(
    ["ACQUIRE", "RELEASE", "HEARTBEAT", "SCAVENGE", "RECONCILE", "ADOPT", "CHECKPOINT"]
)
names = (
    "lane",
    "loop_ts",
    "lease",
    "leases",
    "holder",
    "pid",
    "heartbeat_at",
    "ts",
    "seq",
    "seq_watermark",
)
wild = st.fixed_dictionaries({}, optional={"op": ops | anything, **dict.fromkeys(names, anything)})


@given(records=st.lists(wild | anything, max_size=8))
def test_replay_takes_anything_and_changes_nothing(records):
    before = repr(records)
    live = replay(records)
    assert all(isinstance(lease, dict) for lease in live)
    assert next_seq(records) >= 1
    assert repr(records) == before


def test_replay_does_not_write_into_a_checkpoint():
    records = [rec("CHECKPOINT", leases=[{"lane": "api", "loop_ts": "t1"}]), rec("HEARTBEAT", ts=T)]
    assert replay(records)[0]["heartbeat_at"] == T
    assert replay(records[:1]) == [{"lane": "api", "loop_ts": "t1"}]


@pytest.mark.parametrize(
    "value",
    [10**5000, {"a": 1}, [1], float("nan"), float("inf"), True],
    ids=lambda value: type(value).__name__,
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


# The shape of the released lane log


def test_a_lease_in_the_released_shape():
    clock = FakeClock()
    store = memory_store(clock)
    lease = granted(store, request(pid=7, run_id="r1", ttl_ms=90_000))
    clock.advance(61_000)
    store.renew([lease.fence])
    granted(store, lock())
    assert replay_live_leases(store) == [
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
    store.record(
        "lane/api", LeaseRefused(lane="api", holder="C", reason_class="LANE_HELD", reason="held")
    )
    store.release(second.fence, "done")
    third = granted(store, request(holder="D"))
    store.revoke(third.fence, version=third.version, reason="stalled")
    granted(store, request(holder="E"))
    clock.advance(DAY_MS)
    granted(store, request(holder="F"))
    granted(store, lock())
    records = exported(store, shape="lane-journal")
    assert [record["op"] for record in records] == [
        "ACQUIRE", "HEARTBEAT", "ADOPT", "REFUSE", "RELEASE", "ACQUIRE", "SCAVENGE", "ACQUIRE",
        "SCAVENGE", "ACQUIRE",
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
    assert sorted(map(told, replayed_log)) == sorted(
        told(lane_log_lease(lease)) for lease in store.leases()
    )


def test_an_adoption_without_a_process_is_an_end_and_a_beginning():
    store = memory_store()
    lease = granted(store, request(pid=1))
    store.adopt(lease.fence, request(holder="B", loop_ts="t-A"), version=lease.version)
    records = exported(store, shape="lane-journal")
    assert [record["op"] for record in records] == ["ACQUIRE", "SCAVENGE", "ACQUIRE"]
    assert replay(records)[0]["pid"] is None


def test_a_refusal_without_an_event_is_not_exported():
    store = memory_store()
    granted(store, request())
    store.acquire(request(holder="B"), admit)
    assert [record["op"] for record in exported(store, shape="lane-journal")] == ["ACQUIRE"]
