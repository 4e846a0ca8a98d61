"""Back to which turn should a conversation be cut?"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.runs.rewind import Answer, Checkpoint, Evidence, Excerpt, Finding, Verdict, judge

TURNS = ("d0", "d1", "d2", "d3")
STAMPED = Checkpoint(turn=1, digest="d1")


@pytest.mark.parametrize(
    ("seen", "answer", "turn", "dropped"),
    [
        ({"checkpoint": STAMPED, "turns": TURNS}, Answer.NO_REWIND, -1, ()),
        ({"fire": "BORED", "checkpoint": STAMPED, "turns": TURNS}, Answer.NO_REWIND, -1, ()),
        ({"fire": "DIVERGED", "turns": TURNS}, Answer.UNANCHORED, -1, ()),
        ({"fire": "DIVERGED", "checkpoint": STAMPED, "turns": TURNS}, Answer.REWIND, 1, (2, 3)),
        ({"fire": "THRASHING", "checkpoint": STAMPED, "turns": TURNS[:2]}, Answer.REWIND, 1, ()),
        ({"fire": "STARVED", "checkpoint": STAMPED, "turns": TURNS[:1]}, Answer.UNANCHORED, -1, ()),
        (
            {"fire": "STARVED", "checkpoint": STAMPED, "turns": ("d0", "x")},
            Answer.UNANCHORED,
            -1,
            (),
        ),
        (
            {"fire": "STARVED", "checkpoint": Checkpoint(turn=-1, digest="d3"), "turns": TURNS},
            Answer.UNANCHORED,
            -1,
            (),
        ),
    ],
)
def test_answer(seen, answer, turn, dropped):
    verdict = judge(Evidence(**seen))
    assert (verdict.answer, verdict.rewind_to_turn, verdict.dropped_turns) == (
        answer,
        turn,
        dropped,
    )
    assert verdict.transcript_digest == ("d1" if answer is Answer.REWIND else "")


@pytest.mark.parametrize(
    ("finding", "lines"),
    [
        (Finding(kind="DIVERGED"), 1),
        (Finding(kind="VERIFY_NOT_SHIPPED", payload={"sha": "abc123"}), 1),
        (Finding(kind="VERIFY_NOT_SHIPPED"), 1),
        (Finding(kind="TOOL_STREAM_REPEATING", payload={"count": 3, "turn": 7}), 1),
        (Finding(kind="TOOL_STREAM_REPEATING"), 1),
        (Finding(kind="ADVICE", payload={"text": "try harder"}), 0),
    ],
)
def test_a_note_holds_registered_tokens_only(finding, lines):
    note = judge(Evidence(fire="DIVERGED", findings=(finding,))).no_good_note
    assert len(note.lines) == len(note.tokens) == lines
    for value in note.tokens[0].payload.values() if note.tokens else ():
        assert str(value) in note.lines[0]


@given(text=st.text(min_size=1))
def test_no_text_gets_into_a_note(text):
    findings = (
        Finding(kind="VERIFY_NOT_SHIPPED", payload={"sha": f"say {text}"}),
        Finding(kind=text),
    )
    note = judge(
        Evidence(
            fire="DIVERGED", findings=findings, excerpt=Excerpt(text=text, accountability="SELF")
        )
    ).no_good_note
    plain = judge(
        Evidence(fire="DIVERGED", findings=(Finding(kind="VERIFY_NOT_SHIPPED"),))
    ).no_good_note
    assert note == plain


@pytest.mark.parametrize(
    ("who", "kept"), [("OS_RECORDED", "e"), ("THIRD_PARTY", "e"), ("SELF_REPORTED", ""), ("", "")]
)
def test_an_excerpt_needs_somebody_who_vouches_for_it(who, kept):
    evidence = Evidence(fire="DIVERGED", excerpt=Excerpt(text="e", accountability=who))
    assert judge(evidence).no_good_note.env_excerpt == kept


def test_json_has_the_keys_that_callers_know():
    found = msgspec.to_builtins(judge(Evidence(run_id="R", findings=(Finding(kind="DIVERGED"),))))
    assert found == {
        "verdict": "NO_REWIND", "reason": found["reason"], "rewind_to_turn": -1,
        "transcript_digest": "",
        "dropped_turns": (), "no_good_note": {"tokens": (), "env_excerpt": "", "lines": ()},
        "run_id": "R",
    }  # fmt: skip
    assert msgspec.convert({"verdict": "REWIND"}, Verdict).answer is Answer.REWIND
