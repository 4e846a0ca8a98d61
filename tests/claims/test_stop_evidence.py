"""The claims of an agent that wants to stop, and what is asked of the repository."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from dos.agenthooks import dialects
from dos.agenthooks.events import Action, HookEvent, HookVerdict
from dos.claims.io.stop import MOST_VERIFIED, StopRequest, gather, read_last_turns
from dos.unknown import Unknown
from dos.verify import shipped
from dos.verify.candidate import Tier
from dos.verify.shipped import Answer

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLAIM = "DOS-CLAIM: AUTH AUTH2"
EVENTS = {
    "claude-code": {
        "session_id": "s",
        "cwd": "/r",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "transcript_path": "/t.jsonl",
    },
    "codex": {
        "session_id": "s",
        "transcript_path": None,
        "cwd": "/r",
        "hook_event_name": "Stop",
        "model": "m",
        "permission_mode": "default",
        "turn_id": "t",
        "stop_hook_active": False,
        "last_assistant_message": CLAIM,
    },
    "gemini": {
        "session_id": "s",
        "cwd": "/r",
        "hook_event_name": "AfterAgent",
        "timestamp": "2026-01-01T00:00:00Z",
        "prompt": "p",
        "prompt_response": CLAIM,
        "stop_hook_active": False,
    },
    "cursor": {
        "conversation_id": "s",
        "generation_id": "g",
        "hook_event_name": "stop",
        "workspace_roots": ["/r"],
        "status": "completed",
        "loop_count": 0,
        "transcript_path": None,
    },
    "antigravity": {
        "conversationId": "s",
        "workspacePaths": ["/r"],
        "executionNum": 0,
        "terminationReason": "model_stop",
        "fullyIdle": True,
        "finalModelOutput": CLAIM,
    },
}


def parse(event, host="claude-code"):
    return dialects.parse(host, "stop", event)


def request(event, **more):
    parsed = parse(event)
    return StopRequest(last_message=parsed.last_message, event_transcript=parsed.transcript, **more)


@pytest.mark.parametrize("host", EVENTS)
def test_the_event_of_each_program_is_understood(host):
    parsed = parse(EVENTS[host], host)
    assert (parsed.session, parsed.cwd, parsed.already_continued, parsed.moment) == (
        "s",
        "/r",
        False,
        "stop",
    )
    assert parsed.last_message == (None if host in ("claude-code", "cursor") else CLAIM)
    assert parsed.transcript == ("/t.jsonl" if host == "claude-code" else "")


@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("claude-code", {"stop_hook_active": True}),
        ("codex", {"stop_hook_active": True}),
        ("gemini", {"stop_hook_active": True}),
        ("cursor", {"loop_count": 1}),
        ("antigravity", {"executionNum": 2}),
    ],
)
def test_who_was_refused_once_is_known(host, more):
    assert parse({**EVENTS[host], **more}).already_continued


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": "SessionEnd"},
        {"hook_event_name": 7},
        {**EVENTS["cursor"], "status": "aborted"},
        {**EVENTS["cursor"], "status": "error"},
    ],
)
def test_other_moments_and_turns_cut_short_are_no_stop(event):
    parsed = parse(event)
    assert parsed.moment != "stop" or parsed.was_cut_off


def test_the_captured_events_of_claude_code():
    events = [
        json.decode(line)
        for line in (FIXTURES / "hooks" / "claude.jsonl").read_bytes().splitlines()
    ]
    stops = [parsed for event in events if (parsed := parse(event)).moment == "stop"]
    assert [(stop.cwd, stop.last_message) for stop in stops] == [
        ("/repo", "Done. Shipped AUTH1 and AUTH2.")
    ]


@given(
    event=st.dictionaries(
        st.sampled_from(
            [
                "hook_event_name",
                "cwd",
                "status",
                "workspace_roots",
                "workspacePaths",
                "loop_count",
                "executionNum",
                "stop_hook_active",
                "session_id",
                "last_assistant_message",
                "finalModelOutput",
            ]
        ),
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.lists(st.integers() | st.text())
        | st.just({}),
    )
)
def test_any_event_is_parsed(event):
    assert isinstance(parse(event), HookEvent)


@pytest.mark.parametrize(
    ("host", "bytes_"),
    [
        ("claude-code", b'{"decision":"block","reason":"why"}'),
        ("codex", b'{"decision":"block","reason":"why"}'),
        ("gemini", b'{"decision":"block","reason":"why"}'),
        ("cursor", b'{"followup_message":"why"}'),
        ("antigravity", b'{"decision":"continue","reason":"why"}'),
        ("hermes", b'{"decision":"block","reason":"why"}'),
    ],
)
def test_each_program_is_refused_in_its_own_bytes(host, bytes_):
    verdict = HookVerdict(action=Action.DENY, reason="why")
    assert dialects.render(host, "stop", verdict) == bytes_


class Oracle:
    def __init__(self, answer=Answer.NOT_SHIPPED):
        self.answer, self.asked = answer, []

    def __call__(self, units):
        self.asked.append(list(units))
        return [
            shipped.Verdict(
                answer=self.answer,
                plan=plan,
                phase=phase,
                ref="HEAD",
                tier=Tier.ABSENT,
                reason="why",
            )
            for plan, phase in units
        ]


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "t.jsonl"
    texts = ["DOS-CLAIM: A B", "DOS-CLAIM: C D"]
    path.write_bytes(
        b"".join(
            json.encode({"message": {"role": "assistant", "content": text}}) + b"\n"
            for text in texts
        )
    )
    return str(path)


@pytest.mark.parametrize(
    ("event", "more", "phases"),
    [
        ({"last_assistant_message": CLAIM}, {}, ["AUTH2"]),
        ({}, {}, ["D"]),
        ({}, {"last_turns": 2}, ["B", "D"]),
        ({"last_assistant_message": CLAIM}, {"last_turns": 2}, ["B", "D", "AUTH2"]),
        ({"last_assistant_message": CLAIM}, {"plan": "P", "phase": "X"}, ["X"]),
        ({"last_assistant_message": "nothing"}, {}, []),
        ({"last_assistant_message": ""}, {}, []),
    ],
)
def test_what_the_event_carries_is_preferred_to_the_transcript(transcript, event, more, phases):
    ask = request({"transcript_path": transcript, **event}, **more)
    oracle = Oracle()
    assert [row.claim.phase for row in gather(ask, oracle).results] == phases
    assert len(oracle.asked) == bool(phases), "all claims are asked about at once"


def test_a_transcript_that_is_named_is_read_whatever_the_event_says(transcript):
    ask = request({"last_assistant_message": CLAIM}, transcript=transcript)
    assert [row.claim.phase for row in gather(ask, Oracle()).results] == ["D"]


@pytest.mark.parametrize("event", [{}, {"transcript_path": "/nowhere/t.jsonl"}])
def test_what_cannot_be_read_is_unknown(event):
    oracle = Oracle()
    assert isinstance(read_last_turns(request(event)), Unknown)
    assert gather(request(event), oracle).unread and not oracle.asked


def test_a_lost_transcript_does_not_hide_what_the_event_carries():
    event = {"last_assistant_message": CLAIM, "transcript_path": "/nowhere"}
    assert read_last_turns(request(event, last_turns=3)) == CLAIM


def test_names_that_no_unit_has_and_claims_beyond_the_bound_are_not_called_true():
    many = "\n".join(f"DOS-CLAIM: A B{number}" for number in range(MOST_VERIFIED + 5))
    text = f"DOS-CLAIM: A {'x' * 5000}\n{many}"
    oracle = Oracle(Answer.SHIPPED)
    rows = gather(StopRequest(last_message=text), oracle).results
    assert len(oracle.asked[0]) == MOST_VERIFIED
    assert [row.claim.phase for row in rows if row.shipped is None] == [
        "x" * 5000,
        *(f"B{200 + n}" for n in range(5)),
    ]
