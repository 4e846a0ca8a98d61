"""Did an agent say that something is left to do, and stop all the same?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.dangling import Answer, Evidence, Policy, judge


@pytest.mark.parametrize(
    "text",
    [
        "I need to update the tests.",
        "I still have to add the form.",
        "I’ll need to look again.",
        "I will proceed to the next file",
        "Next, I will write the tests.",
        "Next I should look at the rest.",
        "I should continue with the handler.",
        "I was unable to run the suite.",
        "I haven't finished the handler.",
        "I have not yet been able to test it.",
        "I had not completed the form.",
        "I cannot merge it yet.",
        "The form is still to be done.",
        "The rest remains to be written.",
        "To complete this, I need a key.",
        "Now, to finish the form I must have a key.",
        "It is done. I STILL NEED TO test it.",
    ],
)
def test_an_intent_at_the_end_dangles(text):
    verdict = judge(Evidence(text=text))
    assert verdict.answer is Answer.DANGLING_INTENT
    assert verdict.matched_cue and verdict.matched_cue in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All done.",
        "You need to restart the server.",
        "I need to point out that the form has been added.",
        "What I have to report: everything is now done.",
        "We will see.",
    ],
)
def test_nothing_is_said_of_what_is_settled(text):
    assert judge(Evidence(text=text)).answer is Answer.ABSTAIN


def test_only_its_own_sentence_settles_a_cue():
    assert (
        judge(Evidence(text="It has been added. I need to test it.")).answer
        is Answer.DANGLING_INTENT
    )
    assert (
        judge(Evidence(text="I need to say it has been added. I need to test it.")).answer
        is Answer.DANGLING_INTENT
    )


def test_who_went_on_working_did_not_stop():
    assert judge(Evidence(text="I need to test it.", results_after=1)).answer is Answer.ABSTAIN


def test_only_the_end_is_looked_at():
    long = "I need to test it." + "x" * 600
    assert judge(Evidence(text=long)).answer is Answer.ABSTAIN
    assert judge(Evidence(text=long), Policy(window=0)).answer is Answer.DANGLING_INTENT


def test_other_cues_can_be_given():
    assert (
        judge(Evidence(text="More to come."), Policy(cues=("more to come",))).matched_cue
        == "more to come"
    )
    assert judge(Evidence(text="I need to test it."), Policy(cues=())).answer is Answer.ABSTAIN


def test_sizes_below_nothing_are_mistakes():
    with pytest.raises(ValueError, match="-1"):
        Policy(window=-1)
    with pytest.raises(ValueError, match="-1"):
        Evidence(text="", results_after=-1)


@given(text=st.text(), results=st.integers(0, 3))
def test_a_dangling_end_names_what_was_said(text, results):
    verdict = judge(Evidence(text=text, results_after=results))
    assert (verdict.answer is Answer.DANGLING_INTENT) == bool(verdict.matched_cue)
    assert verdict.reason
