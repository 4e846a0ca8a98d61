"""How often a turn that does nothing may be held open."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.verdicts.noop_budget import (
    Answer,
    Evidence,
    Policy,
    judge,
    propose_tighter_budget,
    wait_marker_budget,
)


@pytest.mark.parametrize(
    ("turns", "most", "allow", "counted"),
    [
        (0, 4, True, 1),
        (3, 4, True, 4),
        (4, 4, False, 4),
        (9, 4, False, 9),
        (0, 0, False, 0),
        (0, 1, True, 1),
    ],
)
def test_the_answer(turns, most, allow, counted):
    verdict = judge(Evidence(noop_turns=turns), Policy(max_streak=most))
    assert (verdict.allow, verdict.noop_turns) == (allow, counted)
    assert verdict.answer is (Answer.LIVE if allow else Answer.EXHAUSTED)


def test_the_json_has_the_known_keys():
    assert msgspec.to_builtins(judge(Evidence(noop_turns=1))) == {
        "verdict": "LIVE",
        "allow": True,
        "noop_turns": 2,
        "reason": "turn 2 of 4",
    }


def test_both_budgets_agree_on_every_input():
    for emitted in range(12):
        for most in range(12):
            budget = wait_marker_budget(emitted, most)
            verdict = judge(Evidence(noop_turns=emitted), Policy(max_streak=most))
            assert (budget.allow, budget.markers_emitted) == (verdict.allow, verdict.noop_turns)
            assert budget.allow == (emitted < most)
            assert budget.markers_emitted == emitted + budget.allow
    assert wait_marker_budget(3) == wait_marker_budget(3, 4)
    assert msgspec.to_builtins(wait_marker_budget(0)).keys() == {
        "allow",
        "markers_emitted",
        "reason",
    }


@pytest.mark.parametrize(
    ("observed", "current", "proposed"), [(252, 4, 4), (5, 8, 4), (1, 4, 1), (0, 4, 1), (3, 4, 2)]
)
def test_a_tighter_budget(observed, current, proposed):
    assert propose_tighter_budget(observed, current) == proposed


@given(observed=st.integers(0, 1000), current=st.integers(1, 1000))
def test_a_proposal_never_loosens_and_never_forbids(observed, current):
    assert 1 <= propose_tighter_budget(observed, current) <= current


@given(most=st.integers(0, 50))
def test_holding_ends_after_the_budget(most):
    turns = held = 0
    while (verdict := judge(Evidence(noop_turns=turns), Policy(max_streak=most))).allow:
        turns, held = verdict.noop_turns, held + 1
    assert held == most


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Evidence(noop_turns=-1),
        lambda: Policy(max_streak=-1),
        lambda: wait_marker_budget(-1),
    ],
)
def test_impossible_numbers_are_refused(refused):
    with pytest.raises(ValueError, match="below 0"):
        refused()
