"""Every stop and go of the loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.plans.loop import (
    Gate,
    IterationOutcome,
    LoopState,
    OutcomeKind,
    StopReason,
    decide,
    needs,
)
from dos.records.reasons import Needs


def outcome(kind: OutcomeKind, **more) -> IterationOutcome:
    return IterationOutcome(kind=kind, **more)


LANDED = outcome(OutcomeKind.SHIPPED, ship_count=1)
NOTHING = outcome(OutcomeKind.SHIPPED, ship_count=0)
UNCLEAR = outcome(OutcomeKind.UNCLEAR)
OVERLOADED = outcome(OutcomeKind.OVERLOADED)


@pytest.mark.parametrize(
    ("state", "happened", "action", "stop"),
    [
        (LoopState(), LANDED, "continue", None),
        (LoopState(iteration=10), LANDED, "stop", StopReason.ITERATION_CAP),
        (LoopState(), NOTHING, "continue", None),
        (LoopState(consecutive_dirty_zero=2), NOTHING, "stop", StopReason.CONSECUTIVE_DIRTY_ZERO),
        (LoopState(), UNCLEAR, "continue", None),
        (LoopState(consecutive_unclear=2), UNCLEAR, "stop", StopReason.CONSECUTIVE_UNCLEAR),
        (LoopState(), OVERLOADED, "retry-same-iter", None),
        (LoopState(consecutive_overloaded=2), OVERLOADED, "stop", StopReason.CONSECUTIVE_OVERLOADED),
        (LoopState(), outcome(OutcomeKind.LAUNCH_FAILED), "stop", StopReason.LAUNCH_FAILED),
        (LoopState(), outcome(OutcomeKind.RATE_LIMITED), "stop", StopReason.RATE_LIMITED),
        (LoopState(), outcome(OutcomeKind.GATE, verdict=Gate.DRAIN), "stop", StopReason.DRAIN),
        (LoopState(), outcome(OutcomeKind.GATE, verdict=Gate.BLOCKED), "stop", StopReason.BLOCKED),
    ],
)
def test_decision(state, happened, action, stop):
    decision = decide(state, happened)
    assert (decision.action, decision.stop_reason) == (action, stop)


def test_a_landing_ends_a_streak_of_nothing():
    assert decide(LoopState(consecutive_dirty_zero=2), LANDED).next_state.consecutive_dirty_zero == 0


def test_back_off_grows():
    waits = [
        decide(LoopState(consecutive_overloaded=n, max_overloaded=9), OVERLOADED).backoff_seconds for n in range(4)
    ]
    assert waits == [60, 270, 1200, 1200]


def test_a_named_stop_beats_the_cap():
    assert decide(LoopState(iteration=10, consecutive_unclear=2), UNCLEAR).stop_reason is StopReason.CONSECUTIVE_UNCLEAR


def test_every_stop_says_who_can_clear_it():
    assert all(needs(reason) in Needs for reason in StopReason)


OUTCOMES = st.sampled_from([LANDED, NOTHING, UNCLEAR, OVERLOADED])


@given(st.lists(OUTCOMES, min_size=60, max_size=60))
def test_every_sequence_of_outcomes_ends(outcomes):
    state, steps = LoopState(), 0
    for happened in outcomes:
        decision = decide(state, happened)
        steps += decision.action == "continue"
        if decision.stop_reason:
            break
        state = decision.next_state
    assert decision.stop_reason
    assert steps < LoopState().max_iterations
