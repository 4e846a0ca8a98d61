"""Is what is left getting less?"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.loop.verdicts.convergence import Answer, Evidence, Policy, Verdict, judge


def answer(*residuals, **policy):
    return judge(Evidence(residuals=residuals), Policy(**policy)).answer


@pytest.mark.parametrize(
    ("residuals", "expected"),
    [
        ((), Answer.INSUFFICIENT),
        ((5,), Answer.INSUFFICIENT),
        # Two equal rounds were enough to call it starved; two rounds of setting up look just the
        # same, so it now takes as many rounds as thrashing does.
        ((3, 3), Answer.CONVERGING),
        ((3, 3, 3), Answer.CONVERGING),
        ((3, 3, 3, 3), Answer.STARVED),
        ((2, 3), Answer.CONVERGING),
        ((4, 3, 4), Answer.CONVERGING),
        ((4, 3, 4, 3), Answer.THRASHING),
        ((5, 4, 0), Answer.CONVERGING),
        ((0, 0, 0, 0), Answer.CONVERGING),
        ((1, 2, 3, 4), Answer.THRASHING),
        ((8, 5, 3, 1), Answer.CONVERGING),
        ((9, 8, 9, 7), Answer.CONVERGING),  # a new low
        ((9, 5, 6, 5), Answer.THRASHING),
        ((10, 9, 9, 9, 9), Answer.STARVED),
        ((9, 7, 7, 7), Answer.CONVERGING),
    ],
)
def test_the_answer(residuals, expected):
    assert answer(*residuals) is expected


@pytest.mark.parametrize(
    ("residuals", "policy", "expected"),
    [
        ((3, 3), {"max_nonconverging": 1, "window": 2}, Answer.STARVED),
        ((3, 3, 3, 3), {"window": 2}, Answer.STARVED),  # a narrow window does not make it quicker
        ((3, 3), {"window": 2}, Answer.CONVERGING),
        ((9, 5, 5, 5, 5), {"window": 6}, Answer.CONVERGING),  # a wide one makes it slower
        ((5, 5, 5, 5, 5, 5), {"window": 6}, Answer.STARVED),
        ((4, 5), {"max_nonconverging": 1}, Answer.THRASHING),
    ],
)
def test_the_policy_says_how_many_rounds_are_needed(residuals, policy, expected):
    assert answer(*residuals, **policy) is expected


def test_the_json_has_the_known_keys():
    shown = msgspec.to_builtins(judge(Evidence(residuals=(9, 5, 6, 5, 6))))
    assert shown | {"reason": ""} == {
        "state": "THRASHING",
        "reason": "",
        "window": (5, 6, 5, 6),
        "should_surface": True,
    }


def test_the_state_alone_is_a_verdict():
    assert msgspec.json.decode(b'{"state":"THRASHING"}', type=Verdict).answer is Answer.THRASHING


@pytest.mark.parametrize(
    "policy", [{"max_nonconverging": 0}, {"max_nonconverging": -1}, {"window": 0}]
)
def test_a_policy_of_no_rounds_is_refused(policy):
    with pytest.raises(ValueError, match=r"at least 1|below 0"):
        Policy(**policy)


def test_less_than_nothing_cannot_be_left():
    with pytest.raises(ValueError, match="below 0"):
        Evidence(residuals=(3, -1))


histories = st.lists(st.integers(0, 20), max_size=12).map(tuple)


@given(residuals=histories, rounds=st.integers(1, 6), window=st.integers(1, 8))
def test_nobody_is_accused_before_enough_rounds_or_at_a_new_low(residuals, rounds, window):
    verdict = judge(Evidence(residuals=residuals), Policy(max_nonconverging=rounds, window=window))
    if verdict.should_surface:
        assert len(residuals) > rounds
        assert residuals[-1] >= min(residuals[-rounds - 1 : -1])


@given(residuals=histories)
def test_a_finished_job_is_never_accused(residuals):
    assert not judge(Evidence(residuals=(*residuals, 0))).should_surface
