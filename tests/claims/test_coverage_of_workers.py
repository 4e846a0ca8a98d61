"""How many of the workers that were sent out came back with something?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims import result
from dos.claims.coverage import EXIT_CODES, Answer, Evidence, WorkerResult, judge
from dos.claims.result import FailureClass

OK, DEAD, EMPTY, UNREAD = (
    WorkerResult(state=result.Answer.HEALTHY),
    WorkerResult(state=result.Answer.SYNTHETIC, cause=FailureClass.RATE_LIMIT),
    WorkerResult(state=result.Answer.EMPTY),
    WorkerResult(state=result.Answer.UNREADABLE),
)


@pytest.mark.parametrize(
    ("declared", "returned", "answer", "unaccounted"),
    [
        (2, [OK, OK], Answer.FULL, 0),
        (2, [OK, OK, DEAD], Answer.FULL, 0),
        (2, [OK], Answer.UNDERFILLED, 1),
        (3, [OK, DEAD, UNREAD], Answer.UNDERFILLED, 0),
        (3, [DEAD, EMPTY], Answer.STARVED, 1),
        (1, [UNREAD], Answer.STARVED, 0),
        (3, [], Answer.STARVED, 3),
        (1, [OK, OK], Answer.OVERFILLED, 0),
        (0, [], Answer.EMPTY, 0),
        (0, [OK], Answer.EMPTY, 0),
        (-1, [OK], Answer.EMPTY, 0),
    ],
)
def test_answer(declared, returned, answer, unaccounted):
    verdict = judge(Evidence(declared=declared, returned=returned))
    assert (verdict.answer, verdict.unaccounted) == (answer, unaccounted)
    assert verdict.foldable == (answer is not Answer.STARVED)
    assert verdict.should_caveat == (EXIT_CODES[answer] == 3)
    assert verdict.fraction == (round(verdict.healthy / declared, 4) if declared > 0 else None)


def test_the_dead_are_told_by_their_class():
    verdict = judge(Evidence(declared=4, returned=[DEAD, DEAD, EMPTY, UNREAD]))
    assert (verdict.dead, verdict.unreadable, verdict.dead_classes) == (
        3,
        1,
        [("RATE_LIMIT", 2), ("NONE", 1)],
    )


@pytest.mark.parametrize(
    ("quorum", "met"), [(None, None), (0.5, True), (0.51, False), (0.0, True), (1.0, False)]
)
def test_a_quorum_changes_nothing_but_its_own_answer(quorum, met):
    verdict = judge(Evidence(declared=2, returned=[OK], min_quorum=quorum))
    assert (verdict.answer, verdict.quorum_met) == (Answer.UNDERFILLED, met)


@pytest.mark.parametrize("quorum", [-0.1, 1.1, float("nan")])
def test_a_quorum_is_a_part(quorum):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Evidence(declared=1, min_quorum=quorum)


@given(
    declared=st.integers(1, 9),
    returned=st.lists(st.sampled_from([OK, DEAD, EMPTY, UNREAD]), max_size=9),
)
def test_nobody_is_counted_twice_and_a_gap_is_always_told(declared, returned):
    verdict = judge(Evidence(declared=declared, returned=returned))
    assert verdict.healthy + verdict.dead + verdict.unreadable == len(returned)
    assert verdict.unaccounted == max(0, declared - len(returned))
    assert (verdict.answer is Answer.FULL) == (verdict.healthy == declared)
    if verdict.healthy < declared:
        assert f"of {declared} workers" in verdict.prompt_line and verdict.should_caveat
