"""What the evidence of a program's runs answers, and what it leaves open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dos.agents.adapter import Ending
from dos.conformance import questions
from dos.conformance.hook_trial import OWN_FILES, REFUSED_FILES, Result
from dos.conformance.questions import (
    WORD,
    LimitEvidence,
    MessageEvidence,
    Verdict,
    WorkEvidence,
)

OWN = frozenset(OWN_FILES)
GOOD = WorkEvidence(
    asked=4, written=OWN, calls=4, told_why=2, answered=5, model_tokens=600, reported_tokens=600,
    reported_cost=False, ended_by_itself=True, did_end_work=True,
)  # fmt: skip
ASKS = {
    "refused, and told why": ({}, Verdict.YES),
    "refused, told nothing": ({"told_why": 0}, Verdict.YES),
    "never asked": ({"asked": 0, "written": OWN | set(REFUSED_FILES)}, Verdict.NO),
    "asked, and wrote anyway": ({"written": OWN | set(REFUSED_FILES)}, Verdict.NO),
    "asked for the shell alone": ({"written": OWN | {REFUSED_FILES[0]}}, Verdict.PARTLY),
    "refused everything": ({"written": frozenset()}, Verdict.PARTLY),
    "never started": ({"asked": 0, "calls": 0, "written": frozenset()}, Verdict.UNKNOWN),
}


@pytest.mark.parametrize(("change", "verdict"), ASKS.values(), ids=ASKS.keys())
def test_whether_it_asks_is_read_from_the_disk(change, verdict):
    assert questions.asks(replace(GOOD, **change)).verdict is verdict


@given(
    st.builds(
        WorkEvidence,
        asked=st.integers(0, 5),
        written=st.frozensets(st.sampled_from([*OWN_FILES, *REFUSED_FILES])),
        calls=st.integers(0, 5),
        told_why=st.integers(0, 3),
        answered=st.integers(0, 5),
        model_tokens=st.integers(0, 999),
        reported_tokens=st.integers(0, 999),
        reported_cost=st.booleans(),
        ended_by_itself=st.booleans(),
        did_end_work=st.booleans(),
        why_not=st.sampled_from(["", "no credit"]),
    )
)
def test_no_forbidden_file_and_no_missing_token_is_ever_called_a_yes(seen):
    if questions.asks(seen).verdict is Verdict.YES:
        assert seen.asked and not seen.written & set(REFUSED_FILES) and seen.written >= OWN
    if questions.usage(seen).verdict is Verdict.YES:
        assert seen.reported_tokens >= seen.model_tokens and seen.reported_tokens
    if questions.ends(seen).verdict is Verdict.YES:
        assert seen.ended_by_itself and seen.did_end_work


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (Result.WORKS, Verdict.YES),
        (Result.INERT, Verdict.NO),
        (Result.FAILED, Verdict.UNKNOWN),
        (Result.NOT_FOUND, Verdict.UNKNOWN),
    ],
)
def test_a_program_that_asks_by_hooks_is_judged_by_the_trial_of_its_hooks(result, verdict):
    assert questions.asks_by_hooks(result, "why").verdict is verdict


LIMITS = {
    "it says so while it waits": ({"waiting": Ending.TRANSIENT}, Verdict.YES),
    "it ends with it": ({"ending": Ending.OVERLOADED}, Verdict.YES),
    "it ends as if all were well": ({"ending": Ending.OK}, Verdict.NO),
    "it ends, and nobody knows why": ({"ending": Ending.CRASH}, Verdict.NO),
    "it says so when it is stopped": (
        {"ending": Ending.TRANSIENT, "was_ended": True},
        Verdict.PARTLY,
    ),
    "it says nothing": ({"was_ended": True, "seconds": 60.0}, Verdict.NO),
    "it waits for something else": ({"waiting": Ending.AUTH}, Verdict.NO),
}


@pytest.mark.parametrize(("seen", "verdict"), LIMITS.values(), ids=LIMITS.keys())
def test_whether_a_limit_is_told(seen, verdict):
    evidence = LimitEvidence(**{"requests": 1, "ending": Ending.HANG, **seen})
    assert questions.limit(evidence).verdict is verdict


def test_a_program_that_never_met_the_limit_tells_nothing_about_it():
    seen = LimitEvidence(requests=0, ending=Ending.TRANSIENT)
    assert questions.limit(seen).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("session", "sent", "verdict"),
    [
        ("s", [f"{WORD}; second"], Verdict.YES),
        ("s", ["second"], Verdict.NO),
        ("", ["second"], Verdict.NO),
        ("s", [], Verdict.UNKNOWN),
        ("s", [f"a title for: {WORD}"], Verdict.UNKNOWN),
    ],
)
def test_whether_a_conversation_was_continued(session, sent, verdict):
    assert questions.resumes(session, sent, "second").verdict is verdict


@pytest.mark.parametrize(
    ("started", "taken", "ended", "reached", "verdict"),
    [
        (True, True, True, True, Verdict.YES),
        (True, True, False, True, Verdict.PARTLY),
        (True, True, True, False, Verdict.NO),
        (True, None, True, False, Verdict.NO),
        (False, False, False, False, Verdict.UNKNOWN),
    ],
)
def test_whether_a_message_reaches_a_program_at_work(started, taken, ended, reached, verdict):
    seen = MessageEvidence(
        started=started, was_taken=taken, tool_ended=ended, reached_model=reached
    )
    assert questions.messages(seen).verdict is verdict
