"""What holds for every state and every outcome of the loop, whatever the numbers."""

import builtins
import socket
import subprocess
import time
from typing import Any

import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_tables import outcome_of, state_of
from msgspec import structs

from dos.loop.decide import RUNGS, decide
from dos.loop.decision import CAP
from dos.loop.types import EVIDENCE, IterationOutcome, LoopState, OutcomeKind, StopReason

MANY = settings(max_examples=EXAMPLES, deadline=None)
STREAKS = (
    "unclear",
    "dirty_zero",
    "overloaded",
    "stale_stamp",
    "unproductive_replan_drains",
    "unproductive_replan",
)
MORE_STREAKS = ("adopt_wait", "race", "wait")

counts = st.integers(0, 4)
judges = st.sampled_from(
    ["SHIPPED-CLEAN", "SHIPPED-DIRTY", "STALLED", "BLOCKED-OUTCOME", "done, trust me"]
)
causes = st.none() | st.sampled_from(
    ["operator_decision", "lane_soak_gated", "stale_claim_false_block", "zzz"]
)
outcomes = st.one_of(
    st.sampled_from(["SHIPPED", "UNCLEAR", "RATE_LIMITED", "OVERLOADED", "LAUNCH_FAILED"]).map(
        lambda kind: {"kind": kind}
    ),
    st.just({"kind": "SHIPPED", "measurement_expected": True}),
    st.builds(
        lambda judge, count: {"kind": "SHIPPED", "packet_judge": judge, "ship_count": count},
        judges,
        counts,
    ),
    st.sampled_from([None, "PRODUCTIVE", "UNPRODUCTIVE"]).map(
        lambda how: {"kind": "REPLAN_DONE", "replan_productivity": how}
    ),
    st.sampled_from(["LIVE", "DRAIN", "STALE-STAMP", "RACE"]).map(
        lambda gate: {"kind": "GATE", "verdict": gate}
    ),
    causes.map(lambda cause: {"kind": "GATE", "verdict": "BLOCKED", "blocked_cause": cause}),
    st.integers(0, 9).map(
        lambda seconds: {"kind": "LAUNCH_FAILED", "retry_after_seconds": seconds}
    ),
    st.just({"kind": "RATE_LIMITED", "resets_at": "2026-01-01T00:00:00Z"}),
).map(outcome_of)

seen = {
    "liveness": st.sampled_from(["ADVANCING", "SPINNING", "STALLED", "UNKNOWN"]),
    "completion": st.sampled_from(["COMPLETE", "INCOMPLETE", "INDETERMINATE", "UNDERDECLARED"]).map(
        lambda s: {"state": s}
    ),
    "convergence": st.sampled_from(["INSUFFICIENT", "CONVERGING", "THRASHING", "STARVED"]).map(
        lambda s: {"state": s}
    ),
    "ratchet": st.sampled_from(["KEEP", "REVERT", "ESCALATE"]).map(lambda v: {"verdict": v}),
    "pickability": st.sampled_from(
        [
            {"held": False},
            {"held": True, "reason": "SOAK_OPEN"},
            {"held": True, "reason": "IN_FLIGHT"},
        ]
    ),
    "cooldown": st.sampled_from(
        [{"state": "CLEAR"}, {"state": "RECENTLY_ATTEMPTED", "unit_id": "U"}]
    ),
    "descendant_progress": st.sampled_from(["advancing", "dead", "none-observed"]),
}
evidence = st.fixed_dictionaries({}, optional=seen)
numbers = st.fixed_dictionaries(
    {},
    optional={
        "gate_mode": st.sampled_from(["hard", "soft", "drive"]),
        "last_replan_drained": st.booleans(),
        "last_gate_was_drain": st.booleans(),
        **{f"consecutive_{name}": counts for name in STREAKS + MORE_STREAKS},
        **{f"max_{name}": counts for name in STREAKS + MORE_STREAKS},
    },
)
BENIGN: dict[str, Any] = {
    "liveness": "ADVANCING",
    "completion": {"state": "INCOMPLETE"},
    "convergence": {"state": "CONVERGING"},
    "ratchet": {"verdict": "KEEP"},
    "pickability": {"held": False},
    "cooldown": {"state": "CLEAR"},
    "descendant_progress": "none-observed",
}


def with_evidence(state: LoopState, fields: dict[str, Any]) -> LoopState:
    read = state_of(fields)
    return structs.replace(state, **{name: getattr(read, name) for name in EVIDENCE})


def check_it_ends(
    limits: dict[str, Any], cap: int, steps: list[tuple[IterationOutcome, dict[str, Any]]]
) -> None:
    state = structs.replace(state_of(limits), max_iterations=cap)
    # An iteration may be tried again while it is overloaded or told to wait, each so often in a
    # row.
    most = max(cap, 1) * (1 + state.max_overloaded + state.max_wait)
    for number in range(most + 1):
        outcome, fields = steps[number % len(steps)]
        decision = decide(with_evidence(state, fields), outcome)
        if decision.action == "stop":
            assert decision.next_state.iteration <= max(cap, 1)
            return
        assert decision.next_state.iteration <= max(cap, 1)
        state = decision.next_state
    raise AssertionError(f"no end after {most} decisions")


def check_a_named_stop_beats_the_cap(fields: dict[str, Any], outcome: IterationOutcome) -> None:
    early = decide(state_of({**fields, "max_iterations": 99}), outcome)
    late = decide(state_of({**fields, "iteration": 99, "max_iterations": 99}), outcome)
    if early.stop_reason:
        assert late.stop_reason == early.stop_reason
    elif early.action == "continue":
        assert late.stop_reason == StopReason.ITERATION_CAP
    else:
        assert late.action == early.action


def check_evidence_is_forgotten(fields: dict[str, Any], outcome: IterationOutcome) -> None:
    after = decide(state_of(fields), outcome).next_state
    assert all(getattr(after, name) is None for name in EVIDENCE)


def check_benign_evidence_decides_nothing(
    fields: dict[str, Any], outcome: IterationOutcome, names: set[str]
) -> None:
    bare = decide(state_of(fields), outcome)
    decision = decide(
        with_evidence(state_of(fields), {name: BENIGN[name] for name in names}), outcome
    )
    assert decision == bare


def check_only_truth_completes(
    fields: dict[str, Any], outcome: IterationOutcome, judge: str
) -> None:
    decision = decide(state_of(fields), outcome)
    if decision.stop_reason == StopReason.COMPLETE:
        assert fields["completion"] == {"state": "COMPLETE"}
    # What the packet is called is a claim: calling it otherwise changes nothing.
    if outcome.packet_judge is not None:
        assert decide(state_of(fields), structs.replace(outcome, packet_judge=judge)) == decision
    # A ship that owes its measurement and has none neither goes on nor clears the streak of empty
    # ones.
    if (
        outcome.kind == OutcomeKind.SHIPPED
        and outcome.measurement_expected
        and outcome.packet_judge is None
    ):
        assert decision.action == "stop"
        assert decision.next_state.consecutive_dirty_zero == state_of(fields).consecutive_dirty_zero


def check_the_ladder(fields: dict[str, Any], outcome: IterationOutcome) -> None:
    names = (*(name for name, _ in RUNGS), CAP)
    ladder = decide(state_of(fields), outcome).ladder
    climbed = ladder[:-1] if ladder[-1] == CAP else ladder
    assert climbed == names[: len(climbed)]


states_and_evidence = st.builds(lambda left, right: {**left, **right}, numbers, evidence)
steps = st.lists(st.tuples(outcomes, evidence), min_size=1, max_size=12)
some_evidence = st.sets(st.sampled_from(sorted(BENIGN)))


@given(numbers, st.integers(0, 12), steps)
def test_every_run_of_outcomes_ends_within_the_cap(limits, cap, steps):
    check_it_ends(limits, cap, steps)


@given(states_and_evidence, outcomes)
def test_a_named_stop_beats_the_cap(fields, outcome):
    check_a_named_stop_beats_the_cap(fields, outcome)


@given(states_and_evidence, outcomes)
def test_evidence_is_never_in_the_next_state(fields, outcome):
    check_evidence_is_forgotten(fields, outcome)


@given(numbers, outcomes, some_evidence)
def test_evidence_that_is_missing_or_benign_changes_no_decision(fields, outcome, names):
    check_benign_evidence_decides_nothing(fields, outcome, names)


@given(states_and_evidence, outcomes, judges)
def test_what_a_worker_says_completes_nothing_and_resets_nothing(fields, outcome, judge):
    check_only_truth_completes(fields, outcome, judge)


@given(states_and_evidence, outcomes)
def test_the_ladder_is_the_order_in_which_rungs_are_asked(fields, outcome):
    check_the_ladder(fields, outcome)


@pytest.mark.soak
def test_the_laws_of_the_loop_hold_for_very_many():
    MANY(given(numbers, st.integers(0, 12), steps)(check_it_ends))()
    MANY(given(states_and_evidence, outcomes)(check_a_named_stop_beats_the_cap))()
    MANY(given(states_and_evidence, outcomes)(check_evidence_is_forgotten))()
    MANY(given(numbers, outcomes, some_evidence)(check_benign_evidence_decides_nothing))()
    MANY(given(states_and_evidence, outcomes, judges)(check_only_truth_completes))()
    MANY(given(states_and_evidence, outcomes)(check_the_ladder))()


def test_deciding_touches_nothing_outside(monkeypatch):
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a decision reached outside")

    for owner, name in [
        (builtins, "open"),
        (time, "time"),
        (time, "monotonic"),
        (subprocess, "Popen"),
        (socket, "socket"),
    ]:
        monkeypatch.setattr(owner, name, forbidden)
    for kind in OutcomeKind:
        fields = {"kind": kind, **({"verdict": "DRAIN"} if kind == "GATE" else {})}
        assert decide(LoopState(), outcome_of(fields)).next_state is not None
