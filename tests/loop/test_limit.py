"""A provider says no more: does that pass, when, and who has to do something?"""

import pytest

from dos.loop.decide import decide
from dos.loop.decision import LIMIT_VERDICTS, LimitKind, judge_limit
from dos.loop.types import IterationOutcome, LoopState, OutcomeKind


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("OVERLOADED", LimitKind.TRANSIENT_OVERLOAD),
        ("rpm_throttled", LimitKind.TRANSIENT_OVERLOAD),
        ("transient_429", LimitKind.TRANSIENT_OVERLOAD),
        ("RATE_LIMITED", LimitKind.USAGE_WINDOW),
        ("daily_quota_exhausted", LimitKind.USAGE_WINDOW),
        ("subscription_blackout", LimitKind.USAGE_WINDOW),
        ("LLM-QUOTA-EXHAUSTED", LimitKind.USAGE_WINDOW),
        ("LLM-QUOTA-EXHAUSTED-DURABLE", LimitKind.USAGE_WINDOW),
        ("CREDIT_LOW", LimitKind.HARD_QUOTA),
        ("", LimitKind.NONE),
        (None, LimitKind.NONE),
        ("SHIPPED", LimitKind.NONE),
    ],
)
def test_every_word_for_a_limit_has_one_meaning(word, answer):
    assert judge_limit(word).answer is answer


@pytest.mark.parametrize(
    ("answer", "retry", "escalate_after", "operator", "timer"),
    [
        (LimitKind.TRANSIENT_OVERLOAD, True, 3, False, True),
        (LimitKind.USAGE_WINDOW, False, 1, False, True),
        (LimitKind.HARD_QUOTA, False, 1, True, False),
        (LimitKind.NONE, False, 1, False, False),
    ],
)
def test_what_follows_from_a_limit(answer, retry, escalate_after, operator, timer):
    found = LIMIT_VERDICTS[answer]
    assert (found.retry_same_iteration, found.escalate_after) == (retry, escalate_after)
    assert (found.operator_action_required, found.clears_on_timer) == (operator, timer)
    assert bool(found.backoff_seconds) is retry


def test_the_loop_backs_off_and_gives_up_as_the_limit_says():
    overloaded = judge_limit(OutcomeKind.OVERLOADED)
    assert overloaded.backoff_seconds == (60, 270, 1200)
    state, waits = LoopState(), []
    while (
        decision := decide(state, IterationOutcome(kind=OutcomeKind.OVERLOADED))
    ).action != "stop":
        waits.append(decision.backoff_seconds)
        state = decision.next_state
    assert len(waits) + 1 == overloaded.escalate_after == LoopState().max_overloaded
    assert tuple(waits) == overloaded.backoff_seconds[: len(waits)]
