"""Every golden row and sequence of the loop's decision, and what an outcome may say."""

from datetime import UTC, datetime, timedelta

import pytest
from loop_tables import GOLDEN, NO_LAUNCH, SEQUENCES, UNCLEAR, changed, outcome_of, state_of, told
from msgspec import ValidationError, structs, to_builtins

from dos import loop_decide
from dos.loop.decide import RUNGS, needs
from dos.loop.gate import Gate
from dos.loop_decide import IterationOutcome, LoopState, OutcomeKind, StopReason, decide
from dos.reasons.table import Needs


@pytest.mark.parametrize(("state", "outcome", "decision", "after"), GOLDEN)
def test_the_decision_is_that_of_the_table(state, outcome, decision, after):
    made = decide(state_of(state), outcome_of(outcome))
    assert told(made) == decision
    assert changed(made.next_state) == after


@pytest.mark.parametrize(("outcomes", "decisions"), SEQUENCES)
def test_a_run_of_outcomes_is_decided_one_after_the_other(outcomes, decisions):
    state, said = LoopState(), []
    for outcome in outcomes:
        decision = decide(state, outcome_of(outcome))
        state = decision.next_state
        said.append(told(decision))
    assert said == decisions


def test_a_child_that_always_seems_to_move_ends_the_loop_before_the_cap():
    state, steps = LoopState(), 0
    while True:
        decision = decide(
            structs.replace(state, descendant_progress="advancing"), outcome_of(UNCLEAR)
        )
        state, steps = decision.next_state, steps + 1
        if decision.action == "stop":
            break
    assert decision.stop_reason == StopReason.CONSECUTIVE_UNCLEAR
    assert steps < state.max_iterations


def test_there_are_twenty_stop_reasons_and_each_says_who_can_clear_it():
    assert len(StopReason) == 20
    silent = {why for why in StopReason if needs(why) is Needs.NOBODY}
    assert silent == {StopReason.ITERATION_CAP, StopReason.COMPLETE, StopReason.DRAINED_TWICE}
    assert StopReason.WEDGE is StopReason.BLOCKED


def test_a_wait_says_until_when():
    ended = datetime(2026, 1, 1, tzinfo=UTC)
    decision = decide(
        LoopState(),
        IterationOutcome(kind=OutcomeKind.LAUNCH_FAILED, retry_after_seconds=90, ended_at=ended),
    )
    assert (decision.action, decision.until, decision.needs) == (
        "wait",
        ended + timedelta(seconds=90),
        Needs.TIME,
    )
    decision = decide(LoopState(), IterationOutcome(kind=OutcomeKind.RATE_LIMITED, resets_at=ended))
    assert decision.until == ended


def test_the_ladder_lists_the_rungs_up_to_the_one_that_decided():
    decision = decide(LoopState(), outcome_of(NO_LAUNCH))
    assert decision.ladder == ("launch-failed",)
    decision = decide(LoopState(iteration=10), outcome_of(UNCLEAR))
    assert decision.ladder[-2:] == ("unclear", "iteration-cap")
    decision = decide(LoopState(), IterationOutcome(kind=OutcomeKind.GATE, verdict=Gate.DRAIN))
    assert decision.ladder == (*(name for name, _ in RUNGS), "iteration-cap")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "GATE"}, "gate verdict"),
        ({"kind": "UNCLEAR", "verdict": "LIVE"}, "gate verdict"),
        ({"kind": "UNCLEAR", "replan_productivity": "PRODUCTIVE"}, "REPLAN_DONE"),
        ({"kind": "UNCLEAR", "packet_judge": "SHIPPED-CLEAN", "ship_count": 1}, "SHIPPED"),
        ({"kind": "SHIPPED", "packet_judge": "SHIPPED-CLEAN"}, "together"),
        ({"kind": "SHIPPED", "ship_count": 1}, "together"),
        ({"kind": "UNCLEAR", "measurement_expected": True}, "SHIPPED"),
        ({"kind": "GATE", "verdict": "DRAIN", "blocked_cause": "operator_decision"}, "BLOCKED"),
        ({"kind": "SHIPPED", "retry_after_seconds": 3}, "LAUNCH_FAILED"),
        ({"kind": "LAUNCH_FAILED", "resets_at": "2026-01-01T00:00:00Z"}, "RATE_LIMITED"),
        ({"kind": "LAUNCH_FAILED", "retry_after_seconds": -1}, ">= 0"),
        ({"kind": "RATE_LIMITED", "resets_at": "2026-01-01T00:00:00"}, "timezone"),
        ({"kind": "SHIPED"}, "SHIPED"),
        ({"kind": "SHIPPED", "ships": 1}, "ships"),
    ],
)
def test_an_outcome_that_contradicts_itself_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        outcome_of(fields)


def test_a_python_caller_gets_a_value_error():
    with pytest.raises(ValueError, match="gate verdict"):
        IterationOutcome(kind=OutcomeKind.GATE)
    with pytest.raises(ValueError, match="wild"):
        LoopState(gate_mode="wild")
    with pytest.raises(ValidationError, match="max_unclaer"):
        state_of({"max_unclaer": 3})


def test_a_decision_and_its_next_state_go_through_json_and_back():
    decision = decide(state_of({"liveness": "ADVANCING"}), outcome_of(UNCLEAR))
    spoken = to_builtins(decision)
    assert set(spoken) == {
        "action",
        "next_mode",
        "reconcile",
        "stop_reason",
        "surface",
        "needs",
        "backoff_seconds",
        "until",
        "reason",
        "ladder",
        "next_state",
    }
    assert state_of(spoken["next_state"]) == decision.next_state


def test_the_public_module_has_the_names_that_callers_rely_on():
    assert set(loop_decide.__all__) == {
        "DescendantProgress",
        "IterationOutcome",
        "LoopDecision",
        "LoopState",
        "OutcomeKind",
        "StopReason",
        "decide",
        "propose_tighter_budget",
        "wait_marker_budget",
        "WaitMarkerDecision",
        "ReplanProductivity",
        "GateVerdict",
        "gate_policy",
        "Liveness",
        "Completion",
        "CompletionVerdict",
        "Convergence",
        "ConvergenceVerdict",
        "Pickability",
        "HoldReason",
        "Cooldown",
        "CooldownState",
    }


def test_records_are_made_and_changed_as_released_callers_do():
    kinds, modes = loop_decide.OutcomeKind, loop_decide.GateVerdict
    outcome = loop_decide.IterationOutcome(kinds.GATE, verdict=modes.DRAIN)
    assert outcome == loop_decide.IterationOutcome(kind=kinds.GATE, verdict=modes.DRAIN)
    assert outcome.to_dict() == {"kind": "GATE", "verdict": "DRAIN"}
    state = loop_decide.LoopState()
    assert state.__replace__(iteration=4).iteration == 4 and state.iteration == 1
    decision = decide(state, outcome)
    assert decision.to_dict()["next_state"]["iteration"] == decision.next_state.iteration
    assert decision.__replace__(reason="other").reason == "other"
    with pytest.raises(TypeError):
        loop_decide.LoopState(4)
    assert loop_decide.gate_policy(verdict="DRAIN", mode="soft").to_dict()["next_mode"] == "stop"
    assert (
        loop_decide.wait_marker_budget(markers_emitted=0, max_markers=1).to_dict()["allow"] is True
    )
    assert loop_decide.propose_tighter_budget(observed_markers=5, current_max=8) == 4


def test_what_is_seen_is_made_by_the_exported_names():
    state = loop_decide.LoopState(
        liveness=loop_decide.Liveness.ADVANCING,
        completion=loop_decide.CompletionVerdict(
            answer=loop_decide.Completion.COMPLETE, is_done=True
        ),
        pickability=loop_decide.Pickability(held=True, reason=loop_decide.HoldReason.DRAFT_CLASS),
    )
    assert decide(state, outcome_of(UNCLEAR)).stop_reason == "complete"


HELD = "the next unit is held, and another dispatch cannot change that"
STALE = "a unit has shipped, and the plan document does not say so"


@pytest.mark.parametrize(
    ("state", "outcome", "reason"),
    [
        (
            {"pickability": {"held": True, "reason": "DRAFT_CLASS"}},
            UNCLEAR,
            f"{HELD}: the unit's plan is a draft",
        ),
        (
            {"pickability": {"held": True, "reason": "SOAK_OPEN", "evidence": "soaks until May"}},
            UNCLEAR,
            f"{HELD}: soaks until May",
        ),
        (
            {"convergence": {"state": "STARVED"}},
            UNCLEAR,
            "the remaining work does not change",
        ),
        (
            {"cooldown": {"state": "RECENTLY_ATTEMPTED", "unit_id": "A/A1"}},
            UNCLEAR,
            "all remaining units were just tried and are on cooldown, such as A/A1",
        ),
        (
            {},
            {"kind": "RATE_LIMITED", "resets_at": "2026-10-01T03:31:00Z"},
            "the usage window is used up; waiting for its reset (wait 1 of 3)",
        ),
        (
            {},
            {"kind": "GATE", "verdict": "BLOCKED", "blocked_cause": "operator_decision"},
            "no replan can clear what blocks the lane: a person has to decide something first",
        ),
        (
            {"consecutive_stale_stamp": 2},
            {"kind": "GATE", "verdict": "STALE-STAMP"},
            f"{STALE}: 3 of 3 times in a row, and no replan cleared it",
        ),
    ],
)
def test_the_reason_is_a_sentence_without_tokens_and_stamps(state, outcome, reason):
    assert decide(state_of(state), outcome_of(outcome)).reason == reason
