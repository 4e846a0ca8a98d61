"""Did a conversation end with an answer, or with a failure notice in its place?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.result import Answer, Evidence, FailureClass, judge

SPOKE = {"found": True, "model": "m", "has_content": True, "text": "done"}


@pytest.mark.parametrize(
    ("seen", "answer", "dead"),
    [
        ({"readable": False}, Answer.UNREADABLE, False),
        ({"readable": False, "model": "<synthetic>"}, Answer.UNREADABLE, False),
        ({}, Answer.EMPTY, True),
        ({"found": True, "model": "m"}, Answer.EMPTY, True),
        (SPOKE, Answer.HEALTHY, False),
        ({**SPOKE, "api_status": 500}, Answer.HEALTHY, False),
        ({**SPOKE, "text": "API Error: rate limited"}, Answer.HEALTHY, False),
        ({**SPOKE, "model": "<synthetic>"}, Answer.SYNTHETIC, True),
        ({**SPOKE, "is_api_error": True}, Answer.SYNTHETIC, True),
        ({"found": True, "model": "<synthetic>"}, Answer.SYNTHETIC, True),
    ],
)
def test_answer(seen, answer, dead):
    verdict = judge(Evidence(**seen))
    assert (verdict.answer, verdict.dead) == (answer, dead)


@pytest.mark.parametrize(
    ("status", "text", "cause"),
    [
        (429, "", FailureClass.RATE_LIMIT),
        (None, "You are being Rate Limited", FailureClass.RATE_LIMIT),
        (401, "", FailureClass.AUTH),
        (None, "authentication failed", FailureClass.AUTH),
        (500, "", FailureClass.SERVER),
        (None, "Internal Server Error", FailureClass.SERVER),
        (None, "a server-side problem", FailureClass.SERVER),
        (403, "", FailureClass.USAGE_LIMIT),
        (None, "you are out of extra usage", FailureClass.USAGE_LIMIT),
        (None, "weekly limit reached", FailureClass.USAGE_LIMIT),
        (None, "session limit reached", FailureClass.USAGE_LIMIT),
        (None, "your organization has disabled Claude", FailureClass.USAGE_LIMIT),
        (None, "usage limit", FailureClass.USAGE_LIMIT),
        (418, "teapot", FailureClass.OTHER),
        (None, "", FailureClass.OTHER),
        (429, "authentication", FailureClass.RATE_LIMIT),
    ],
)
def test_a_notice_has_a_class(status, text, cause):
    verdict = judge(
        Evidence(found=True, model="<synthetic>", api_status=status, text=text, has_content=True)
    )
    assert verdict.cause == cause
    assert verdict.envelope["reason_class"] == f"RESULT_DEAD_{cause}"


def test_what_is_dead_is_not_shown():
    empty = judge(Evidence())
    assert empty.envelope == {
        "all_clear": False,
        "blocked": True,
        "do_not_render": True,
        "reason_class": "RESULT_EMPTY",
        "verdict": "WEDGE",
    }
    assert judge(Evidence(**SPOKE)).envelope == {"all_clear": True, "verdict": "LIVE"}


@given(text=st.text(), status=st.none() | st.integers())
def test_no_words_of_a_model_make_it_dead(text, status):
    evidence = Evidence(found=True, model="m", has_content=True, text=text, api_status=status)
    assert judge(evidence).answer is Answer.HEALTHY
