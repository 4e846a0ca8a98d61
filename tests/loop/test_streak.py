"""The circuit breaker: enough in a row, or enough in all."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.verdicts.breaker import (
    Answer,
    Escalation,
    Evidence,
    Policy,
    judge,
    record_failure,
    record_success,
)


@pytest.mark.parametrize(
    ("consecutive", "total", "policy", "state", "tripped_on"),
    [
        (0, 0, {}, "CLOSED", None),
        (2, 19, {}, "CLOSED", None),
        (3, 3, {}, "OPEN", "consecutive"),
        (3, 20, {}, "OPEN", "consecutive"),  # the row is said first
        (1, 20, {}, "OPEN", "total"),
        (0, 20, {}, "OPEN", "total"),
        (9, 9, {}, "OPEN", "consecutive"),
        (99, 5, {"max_consecutive": 0}, "CLOSED", None),
        (2, 999, {"max_total": 0}, "CLOSED", None),
    ],
)
def test_the_answer(consecutive, total, policy, state, tripped_on):
    verdict = judge(Evidence(consecutive=consecutive, total=total), Policy(**policy))
    assert (verdict.answer, verdict.tripped_on) == (state, tripped_on)


def test_a_success_breaks_the_row_and_not_the_sum():
    counts = Evidence()
    for _ in range(3):
        counts, verdict = record_failure(counts)
    assert verdict.answer is Answer.OPEN
    counts, verdict = record_success(counts)
    assert (verdict.answer, counts) == (Answer.CLOSED, Evidence(consecutive=0, total=3))
    _, verdict = record_success(Evidence(consecutive=1, total=20))
    assert (verdict.answer, verdict.tripped_on) == (Answer.OPEN, "total")


@pytest.mark.parametrize("who", list(Escalation))
def test_who_is_asked_is_asked_only_when_it_trips(who):
    policy = Policy(on_trip=who.value.lower())
    assert judge(Evidence(consecutive=3), policy).escalation is who
    assert judge(Evidence(consecutive=2), policy).escalation is Escalation.NONE


def test_the_json_has_the_known_keys():
    shown = msgspec.to_builtins(judge(Evidence(consecutive=3), Policy(on_trip="human")))
    assert shown | {"reason": ""} == {
        "state": "OPEN",
        "escalation": "HUMAN",
        "reason": "",
        "tripped_on": "consecutive",
    }


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Evidence(consecutive=-1),
        lambda: Evidence(total=-1),
        lambda: Policy(max_consecutive=-1),
        lambda: Policy(max_total=-1),
        lambda: Policy(max_consecutive=0, max_total=0),
    ],
)
def test_impossible_numbers_are_refused(refused):
    with pytest.raises(ValueError, match=r"below 0|both 0"):
        refused()


counts = st.builds(Evidence, consecutive=st.integers(0, 30), total=st.integers(0, 30))
limits = st.builds(Policy, max_consecutive=st.integers(1, 10), max_total=st.integers(0, 25))


@given(seen=counts, policy=limits)
def test_failing_past_a_trip_stays_open_and_changes_nothing_given(seen, policy):
    before = (seen.consecutive, seen.total)
    counted, after = record_failure(seen, policy)
    if judge(seen, policy).answer is Answer.OPEN:
        assert after.answer is Answer.OPEN
    assert (counted.consecutive, counted.total) == (seen.consecutive + 1, seen.total + 1)
    assert (seen.consecutive, seen.total) == before


@given(policy=limits, failures=st.integers(0, 40))
def test_it_opens_at_its_limit_and_not_before(policy, failures):
    counted, verdict = Evidence(), judge(Evidence(), policy)
    for _ in range(failures):
        counted, verdict = record_failure(counted, policy)
    first = min(limit for limit in (policy.max_consecutive, policy.max_total) if limit)
    assert (verdict.answer is Answer.OPEN) == (failures >= first)
