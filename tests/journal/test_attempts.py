"""Tries at units: folded, imported from released logs, and written in their shape."""

import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from lease_histories import START_MS, FakeClock, memory_store
from log_files import exported, written

from dos.backlog import attempts, cooldown
from dos.backlog.attempts import Attempts, make_attempt, released_attempt
from dos.backlog.cooldown import AttemptOutcome, Evidence, Policy
from dos.journal import fold, streams
from dos.journal.events.fleet import UnitAttempted
from dos.journal.transfer.transfer import import_lines

ROW = {"op": "ATTEMPT", "unit_id": "U", "outcome": "drained", "attempted_at_ms": 1000}
TAG = {"family": "lane-journal", "version": 1}


@pytest.mark.parametrize(
    ("changes", "at_ms", "outcome"),
    [
        ({}, 1000, "drained"),
        ({"op": ""}, 1000, "drained"),
        ({"op": None}, 1000, "drained"),
        ({"schema": TAG}, 1000, "drained"),
        ({"schema": {"version": 1}}, 1000, "drained"),
        ({"outcome": "weird"}, 1000, "unknown"),
        ({"outcome": None}, 1000, "unknown"),
        ({"attempted_at_ms": "1000"}, 1000, "drained"),
        ({"attempted_at_ms": 1000.9}, 1000, "drained"),
        ({"attempted_at_ms": None, "ts": "1970-01-01T00:00:02Z"}, 2000, "drained"),
        ({"attempted_at_ms": "x", "ts": "1970-01-01T00:00:02"}, 2000, "drained"),
    ],
)
def test_a_released_attempt_is_read(changes, at_ms, outcome):
    assert released_attempt(ROW | changes) == make_attempt("U", AttemptOutcome(outcome), at_ms)


@pytest.mark.parametrize(
    "changes",
    [
        {"op": "ACQUIRE"}, {"schema": TAG | {"version": 2}},
        {"schema": TAG | {"family": "intent-ledger"}}, {"schema": TAG | {"family": "other"}},
        {"unit_id": None}, {"unit_id": 5}, {"attempted_at_ms": None}, {"attempted_at_ms": True},
        {"attempted_at_ms": -1}, {"attempted_at_ms": 10**40}, {"attempted_at_ms": float("inf")},
        {"attempted_at_ms": None, "ts": "yesterday"}, {"attempted_at_ms": None, "ts": 5},
    ],
)  # fmt: skip
def test_what_cannot_be_read_was_not_tried(changes):
    assert released_attempt(ROW | changes) is None


def test_an_imported_log_counts_like_our_own_attempts(tmp_path):
    store = memory_store()
    store.record("unit/U", UnitAttempted(unit="U", outcome="error"))
    rows = [
        ROW,
        ROW | {"outcome": "shipped", "attempted_at_ms": 5},
        ROW | {"schema": TAG | {"version": 2}},
        "garbage",
    ]
    path = written(
        tmp_path / "lane-journal.jsonl",
        [*rows, ROW | {"op": "RELEASE", "lane": "api", "loop_ts": "t"}],
    )
    import_lines(store, path)
    import_lines(store, path)  # a second time changes nothing
    state, _ = fold.current(store, Attempts)
    assert state.count("U") == 3
    assert {each.outcome: each.at_ms for each in state.newest("U")} == {
        "error": START_MS,
        "drained": 1000,
        "shipped": 5,
    }


def test_our_attempts_are_written_in_the_shape_of_released_logs_and_read_back(tmp_path):
    store, other = memory_store(), memory_store()
    fact = UnitAttempted(
        unit="U", outcome="blocked", lane="api", run_id="RID-1", loop_ts="t", host="h"
    )
    store.record("unit/U", fact)
    (record,) = exported(store, shape="lane-journal")
    assert record == {
        "op": "ATTEMPT", "schema": TAG, "unit_id": "U", "outcome": "blocked", "lane": "api",
        "loop_ts": "t", "host_id": "h", "run_id": "RID-1", "seq": 1, "ts": "2023-11-14T22:13:20Z",
    }  # fmt: skip
    import_lines(other, written(tmp_path / "lane-journal.jsonl", [record]))
    assert fold.current(other, Attempts)[0].newest("U") == fold.current(store, Attempts)[0].newest(
        "U"
    )


STEPS = st.lists(
    st.tuples(st.sampled_from(["U", "V"]),
              st.sampled_from(["shipped", "drained", "blocked", "error", "odd"]),
              st.sampled_from([0, 1, 60_000, 3_600_000])), max_size=12,
)  # fmt: skip


def check_fold(steps, cut, later_ms, error_window_ms):
    clock = FakeClock()
    store = memory_store(clock)
    every = []
    for unit, outcome, wait_ms in steps:
        clock.advance(wait_ms)
        store.record(streams.unit(unit), UnitAttempted(unit=unit, outcome=outcome))
        every.append(make_attempt(unit, AttemptOutcome.read(outcome), clock.wall_ms()))
    happened = list(store.events())
    state = fold.fold(Attempts(), happened)
    assert fold.fold(fold.fold(Attempts(), happened[:cut]), happened[cut:]) == state
    assert fold.decode(Attempts, fold.encode(state)) == state
    now_ms, policy = clock.wall_ms() + later_ms, Policy(error_window_ms=error_window_ms)
    listed = state.newest("U")
    folded = Evidence(
        unit_id="U", attempts=listed, now_ms=now_ms, unlisted=state.count("U") - len(listed)
    )
    whole = Evidence(unit_id="U", attempts=tuple(every), now_ms=now_ms)
    assert cooldown.judge(folded, policy) == cooldown.judge(whole, policy)


LATER = st.integers(0, 30_000_000)


@given(STEPS, st.integers(0, 12), LATER, LATER)
def test_the_fold_knows_all_that_a_cooldown_needs(steps, cut, later_ms, error_window_ms):
    check_fold(steps, cut, later_ms, error_window_ms)


@pytest.mark.soak
@settings(max_examples=EXAMPLES)
@given(STEPS, st.integers(0, 12), LATER, LATER)
def test_the_fold_knows_all_that_a_cooldown_needs_in_many_histories(
    steps, cut, later_ms, error_window_ms
):
    check_fold(steps, cut, later_ms, error_window_ms)


def test_only_so_many_units_are_remembered_and_the_newest_ones(monkeypatch):
    monkeypatch.setattr(attempts, "UNITS_KEPT", 3)
    clock = FakeClock()
    store = memory_store(clock)
    for unit in "ABCDAE":
        clock.advance(1)
        store.record(streams.unit(unit), UnitAttempted(unit=unit, outcome="error"))
    assert set(fold.fold(Attempts(), store.events()).units) == {"D", "A", "E"}
