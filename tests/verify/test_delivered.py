"""Did an iteration deliver its unit?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.verify.delivered import Answer, Evidence, judge


def seen(**more) -> Evidence:
    return Evidence(**{"commits": 1, "changed_paths": 1, "strays": [], "accepted": True, **more})


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (seen(), Answer.DELIVERED),
        (seen(accepted=None), Answer.DELIVERED),
        (seen(accepted=False), Answer.REJECTED),
        (seen(commits=0), Answer.NOTHING),
        (seen(changed_paths=0), Answer.NOTHING),
        (seen(strays=["x"]), Answer.STRAYED),
        (seen(strays=["x"], accepted=False), Answer.STRAYED),
        (seen(commits=0, accepted=True), Answer.NOTHING),
    ],
)
def test_answer(evidence, answer):
    assert judge(evidence).answer is answer


@given(st.builds(Evidence, commits=st.integers(0, 3), changed_paths=st.integers(0, 3)))
def test_nothing_is_delivered_without_a_commit_inside_the_lane_that_passed(evidence):
    if judge(evidence).answer is Answer.DELIVERED:
        assert (
            evidence.commits
            and evidence.changed_paths
            and not evidence.strays
            and evidence.accepted is not False
        )
