"""`dos scout`: which activity comes next, by a state that is given."""

import pytest
from commanding import in_process
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from dos.loop.verdicts.scout import Activity, LaneTally, State, judge

UNSTICK = {"health": "route_unstick", "cause_key": "launch-failed"}
REPLAN = {"health": "route_replan", "cause_key": "drain"}
BARREN = {"lane": "api", "runs": 3, "drained": 2}


@pytest.mark.parametrize(
    ("state", "activity", "code"),
    [
        ({}, "dispatch", 0),
        ({"resource_blocked": True, **UNSTICK}, "stop", 6),
        (UNSTICK, "unstick", 3),
        ({**UNSTICK, "unsticks_today": 2}, "unstick", 3),
        ({**UNSTICK, "unsticks_today": 2, "cause_needs_operator": True}, "dispatch", 0),
        ({**UNSTICK, "unsticks_today": 3, "fixes_landing": False}, "dispatch", 0),
        ({**UNSTICK, "lane_overlap": True}, "unstick", 3),
        ({"lane_overlap": True, **REPLAN}, "wait", 5),
        ({"health": "overlap_block"}, "wait", 5),
        ({**REPLAN, "open_soaks": 1}, "wait", 5),
        (REPLAN, "replan", 4),
        ({**REPLAN, "replan_in_flight": True}, "dispatch", 0),
        ({"replan_due": True}, "replan", 4),
        ({"replan_due": True, "replan_in_flight": True}, "dispatch", 0),
        ({"replan_due": True, "replanned_in_window": True}, "replan", 4),
        (
            {"replan_due": True, "replan_due_by_cooldown": True, "replanned_in_window": True},
            "dispatch",
            0,
        ),
        ({"replan_due": True, "replan_due_by_cooldown": True}, "replan", 4),
        ({"lanes": [BARREN]}, "replan", 4),
        ({"lanes": [{**BARREN, "runs": 2, "drained": 0}]}, "dispatch", 0),
        ({"lanes": [{**BARREN, "shipped": 1}]}, "dispatch", 0),
        ({"lanes": [{**BARREN, "drained": 3}]}, "dispatch", 0),
        ({"open_decisions": 9, "runs": 40, "zero_ship_runs": 40}, "dispatch", 0),
    ],
    ids=lambda each: str(each)[:60],
)
def test_the_first_rule_that_answers_wins(tmp_path, monkeypatch, state, activity, code):
    monkeypatch.chdir(tmp_path)
    answer = in_process("scout", "--state-json", json.encode(state).decode(), "--json")
    assert (answer.json["activity"], answer.code) == (activity, code)
    assert set(answer.json) == {
        "activity", "rule_id", "confidence", "auto_runnable", "needs_lane", "scope", "focus",
        "gate", "reason", "cause_key", "evidence",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("state", "focus"),
    [
        ({}, ""),
        ({"closed_loop_items": 1}, "closed-loop-first"),
        ({"closed_loop_items": 1, "stale_stamps": 1}, "stale-stamp"),
    ],
)
def test_what_a_dispatch_looks_at_first(state, focus):
    assert judge(State(**state)).focus == focus


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((19, 15), "only 4 of 19"),
        ((20, 15), "15 of 20 runs shipped nothing"),
        ((3, 2), "only 1 of 3"),
        ((3, 1), ""),
        ((0, 0), ""),
    ],
)
def test_a_poor_yield_is_told_and_stops_nothing(counts, told):
    runs, empty = counts
    verdict = judge(State(runs=runs, zero_ship_runs=empty))
    assert verdict.activity is Activity.DISPATCH
    assert (told in "".join(verdict.evidence)) if told else not verdict.evidence


STATES = st.builds(
    State,
    resource_blocked=st.booleans(),
    health=st.sampled_from(("proceed", "route_unstick", "route_replan", "overlap_block")),
    cause_needs_operator=st.booleans(),
    unsticks_today=st.integers(0, 4),
    fixes_landing=st.booleans(),
    lane_overlap=st.booleans(),
    open_soaks=st.integers(0, 2),
    replan_due=st.booleans(),
    replan_due_by_cooldown=st.booleans(),
    replan_in_flight=st.booleans(),
    replanned_in_window=st.booleans(),
    lanes=st.lists(
        st.builds(LaneTally, lane=st.sampled_from("ab"), runs=st.integers(0, 4)), max_size=2
    ).map(tuple),
    open_decisions=st.integers(0, 3),
    runs=st.integers(0, 30),
    gate=st.sampled_from(("hard", "soft", "drive")),
)


@given(STATES)
def test_every_state_has_one_activity_and_only_a_dispatch_has_a_gate(state):
    verdict = judge(state)
    assert bool(verdict.gate) == (verdict.activity is Activity.DISPATCH)
    assert bool(verdict.cause_key) == (verdict.activity in (Activity.STOP, Activity.WAIT))
    assert verdict.auto_runnable != (verdict.activity is Activity.STOP)
    assert state.resource_blocked == (verdict.activity is Activity.STOP)
    if state.replan_in_flight:
        assert verdict.activity is not Activity.REPLAN


@given(STATES)
def test_questions_and_yields_never_change_the_activity(state):
    quiet = structs.replace(state, open_decisions=0, runs=0, zero_ship_runs=0)
    assert judge(state).activity is judge(quiet).activity


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"runs": -1}', '{"run": 1}', '{"health": "fine"}', '{"runs": "1"}']
)
def test_what_is_no_state_is_an_error(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    answer = in_process("scout", "--state-json", text)
    assert answer.code == 2 and "--state-json" in answer.err
