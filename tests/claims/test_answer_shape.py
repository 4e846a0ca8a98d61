"""Is a text shaped like an answer that can be shown?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.answer_shape import Answer, Policy, invalid_patterns, judge


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("4", Answer.ANSWER_SHAPED),
        ("Step 1: install it.\nStep 2: run it.", Answer.ANSWER_SHAPED),
        (
            "I cannot stress enough that the answer is 4; I will provide the proof.",
            Answer.ANSWER_SHAPED,
        ),
        ("The answer is 4. I cannot provide the proof.", Answer.ANSWER_SHAPED),
        ("Do not let me think for you.", Answer.ANSWER_SHAPED),
        ("Call the function tool_call() to begin.", Answer.ANSWER_SHAPED),
        ("", Answer.NON_ANSWER),
        (" \n\t", Answer.NON_ANSWER),
        ("<think>hm</think> 4", Answer.NON_ANSWER),
        ("4 </thinking>", Answer.NON_ANSWER),
        ("<scratchpad>", Answer.NON_ANSWER),
        ("Let me think about it.", Answer.NON_ANSWER),
        ("Okay, let me reason.", Answer.NON_ANSWER),
        ("I cannot help with that.", Answer.NON_ANSWER),
        ("I'm sorry, but I can't assist with this.", Answer.NON_ANSWER),
        ("Sorry, I am unable to provide it.", Answer.NON_ANSWER),
        ("Unfortunately, we're not able to continue.", Answer.NON_ANSWER),
        ("As an AI language model I have no opinion.", Answer.NON_ANSWER),
        ("tool_call: read", Answer.NON_ANSWER),
        ("text\n  <tool_use>", Answer.NON_ANSWER),
        ('{"function_call": 1}', Answer.NON_ANSWER),
        ("Traceback (most recent call last):\n  File", Answer.NON_ANSWER),
    ],
)
def test_answer(text, answer):
    verdict = judge(text, Policy())
    assert verdict.answer is answer
    assert (verdict.is_shippable, verdict.is_disqualified) == (
        answer is Answer.ANSWER_SHAPED,
        answer is Answer.NON_ANSWER,
    )
    assert verdict.length == len(text.strip()) and verdict.reason


def test_the_floor_counts_what_is_not_blank():
    assert judge("  ab  ", Policy(min_chars=3)).answer is Answer.NON_ANSWER
    assert judge("  abc  ", Policy(min_chars=3)).answer is Answer.ANSWER_SHAPED


def test_markers_and_more_disqualifiers():
    assert judge("abc", Policy(markers=("x", "b."))).matched == "bc"
    assert judge("abc", Policy(markers=("x",))).answer is Answer.INDETERMINATE
    verdict = judge("abc", Policy(markers=("a",), non_answers=("B",)))
    assert (verdict.answer, verdict.matched) == (Answer.NON_ANSWER, "b")


def test_without_a_policy_nothing_is_known():
    assert judge("4", None).answer is Answer.INDETERMINATE


def test_a_pattern_that_is_none_is_passed_over_and_named():
    assert judge("abc", Policy(non_answers=("[", "b"))).answer is Answer.NON_ANSWER
    assert invalid_patterns(("[", "b", "(?P<")) == ["[", "(?P<"]


@given(text=st.text())
def test_a_blank_text_is_never_an_answer_and_others_always_have_a_reason(text):
    verdict = judge(text, Policy())
    assert verdict.reason and (text.strip() or verdict.answer is Answer.NON_ANSWER)
