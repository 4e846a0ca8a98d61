"""What holds of every adapter, whatever a program prints."""

from functools import partial
from importlib import import_module

import pytest
from captures import ENDED, FOLDER, NOW, SILENT, adapter_of, ended, lines, states
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, msgpack

from dos.agents import registry
from dos.agents.acp.conversation import CONVERSATIONS
from dos.agents.adapter import Clocks, Ending
from dos.agents.registry import ConversationAdapter

ALL = pytest.mark.parametrize("name", registry.NAMES)
KEYS = st.sampled_from(
    """type subtype error message result usage tokens part item stats models modelUsage
    rate_limit_info resetsAt status rateLimitType permission_denials errors content text
    role data name state input cost cache retry_delay_ms is_error error_status
    api_error_status ending seconds resets_at retry_after window total read statusCode
    responseHeaders""".split()  # noqa: SIM905 - a list would fill the page
)
WORDS = st.sampled_from(
    """assistant user system init result success error api_retry rate_limit_event rejected
    turn.failed turn.completed item.completed thread.started error_max_turns step_finish
    step_start tool_use message text limit usage waiting ending""".split()  # noqa: SIM905
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats()
    | st.text(max_size=20)
    | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)
LINES = st.lists(
    st.text(max_size=60)
    | st.dictionaries(KEYS, VALUES, max_size=8).map(lambda value: json.encode(value).decode())
    | st.tuples(WORDS, st.dictionaries(KEYS, VALUES, max_size=6)).map(
        lambda pair: json.encode({**pair[1], "type": pair[0]}).decode()
    ),
    max_size=8,
)
EXITS = st.none() | st.integers(-64, 255)
CLOCKS = st.builds(
    partial(Clocks, ended_at=NOW), silent=st.booleans(), idle=st.booleans(), stopped=st.booleans()
)


def unguarded(name):
    """The adapter without the guard that it has otherwise."""
    if name in CONVERSATIONS:
        return ConversationAdapter(CONVERSATIONS[name])
    return import_module(registry.ADAPTER_MODULES[name])


@ALL
@given(said=LINES, exit_code=EXITS, clocks=CLOCKS)
def test_whatever_it_prints_can_be_judged_and_is_read_once(name, said, exit_code, clocks):
    adapter = unguarded(name)
    seen = list(states(adapter, said))
    outcome = nothing_is_too_strange_to_be_judged(adapter, seen, exit_code, clocks)
    it_ended_well_only_by_its_exit_code_or_by_its_own_word(outcome, exit_code, clocks)
    what_is_read_while_it_runs_is_what_its_end_says(adapter, seen, said, outcome)
    assert ended(registry.find(name), said, exit_code, clocks) == outcome, (
        "its guard changes nothing"
    )


def nothing_is_too_strange_to_be_judged(adapter, seen, exit_code, clocks):
    kept = [msgpack.encode(state) for state in seen]
    outcome = adapter.outcome(seen[-1], exit_code, clocks)
    assert [msgpack.encode(state) for state in seen] == kept, (
        "a state that was given is left as it was"
    )
    assert len(outcome.claim) <= 2000
    assert outcome.retry_after_seconds is None or outcome.retry_after_seconds >= 0
    assert outcome.resets_at is None or outcome.resets_at.tzinfo is not None
    assert all(usage.input_tokens >= 0 and usage.output_tokens >= 0 for usage in outcome.usage)
    json.encode(outcome)
    return outcome


def it_ended_well_only_by_its_exit_code_or_by_its_own_word(outcome, exit_code, clocks):
    if outcome.ending is Ending.OK:
        assert not clocks.stopped
        assert exit_code == 0 or outcome.found.field in (
            "subtype",
            "permission_denials",
            "type",
            "status",
            "stopReason",
        )


def what_is_read_while_it_runs_is_what_its_end_says(adapter, seen, said, outcome):
    assert outcome.usage == seen[-1].usage
    assert outcome.session == seen[-1].session
    again = seen[0]
    for line, state in zip(said, seen[1:], strict=True):
        again = adapter.on_line(again, line)
        assert again == state


def tokens(usage):
    return sum(each.tokens for each in usage)


USED = st.integers(min_value=0, max_value=1000)
TRUTHFUL = {
    # Each step as the program tells it, and the whole of all steps where it tells that besides.
    "claude_code": (
        lambda number, used: {
            "type": "assistant",
            "message": {"id": f"m{number}", "model": "m", "usage": {"output_tokens": used}},
        },
        lambda total: {"type": "result", "modelUsage": {"m": {"outputTokens": total}}},
    ),
    "codex": (None, lambda total: {"type": "turn.completed", "usage": {"output_tokens": total}}),
    "gemini": (
        None,
        lambda total: {"type": "result", "stats": {"models": {"m": {"output_tokens": total}}}},
    ),
    "opencode": (
        lambda number, used: {"type": "step_finish", "part": {"tokens": {"output": used}}},
        None,
    ),
    "pi": (
        lambda number, used: {
            "type": "message_end",
            "message": {"role": "assistant", "model": "m", "usage": {"output": used}},
        },
        None,
    ),
    "scripted": (lambda number, used: {"type": "usage", "model": "m", "output_tokens": used}, None),
}


@pytest.mark.parametrize("name", TRUTHFUL)
@given(steps=st.lists(st.tuples(USED, st.booleans()), max_size=8))
def test_what_it_used_only_grows_and_ends_as_the_whole(name, steps):
    """Whichever steps a sum reports, and however often a message is reported."""
    adapter, (step, whole) = unguarded(name), TRUTHFUL[name]
    said, total, told = [], 0, [0]
    for number, (used, sums_up) in enumerate(steps):
        total += used
        if step:
            said += [step(number, used)] * (2 if name == "claude_code" else 1)
            told += [total] * (2 if name == "claude_code" else 1)
        if whole and sums_up:
            said.append(whole(total))
            told.append(total)
    seen = [
        tokens(state.usage)
        for state in states(adapter, [json.encode(each).decode() for each in said])
    ]
    assert seen == told == sorted(told)


def printed_by_a_tool(name: str, words: str) -> str:
    """A line in which the program reports what a tool printed."""
    tool = {
        "claude_code": {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "content": words}]},
            "tool_use_result": {"stdout": words},
        },
        "codex": {
            "type": "item.completed",
            "item": {
                "type": "command_execution",
                "command": "cat log",
                "aggregated_output": words,
                "exit_code": 1,
            },
        },
        "gemini": {
            "type": "tool_result",
            "status": "error",
            "output": words,
            "error": {"type": "x", "message": words},
        },
        "opencode": {
            "type": "tool_use",
            "part": {"tool": "bash", "state": {"status": "error", "output": words, "error": words}},
        },
        "pi": {
            "type": "tool_execution_end",
            "toolName": "bash",
            "result": {"content": [{"type": "text", "text": words}]},
            "isError": True,
        },
    }
    return json.encode(tool[name]).decode()


FRIGHTENING = st.sampled_from(
    [
        "You've hit your session limit · resets 3:45pm",
        "API Error: 529 Overloaded",
        "Not logged in · Please run /login",
        "Attempt 1 failed with status 429. Retrying with backoff...",
        (
            'timestamp=1 level=ERROR run=1 message="stream error"'
            ' error.error="AI_APICallError: Overloaded"'
        ),
        '{"type":"result","subtype":"success","is_error":false}',
        '{"type":"turn.failed","error":{"message":"unexpected status 401"}}',
        "permission requested: bash; auto-rejecting",
    ]
)


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.jsonl")))
@pytest.mark.parametrize("clocks", [ENDED, SILENT], ids=["ended", "silent"])
@given(words=FRIGHTENING | st.text(max_size=80))
def test_what_a_tool_printed_never_changes_the_end(file, clocks, words):
    name, said = adapter_of(file), lines(file)
    adapter = registry.find(name)
    plain = ended(adapter, said, 1, clocks)
    for place in range(1, len(said)):
        assert (
            ended(
                adapter, [*said[:place], printed_by_a_tool(name, words), *said[place:]], 1, clocks
            )
            == plain
        )


@ALL
def test_a_program_that_is_not_there_is_told_from_one_that_crashed(name):
    adapter = registry.find(name)
    assert (
        ended(adapter, ["claude: No such file or directory"], 120, ENDED).ending
        is Ending.LAUNCH_FAILED
    )
    assert ended(adapter, [], None, ENDED).ending is Ending.LAUNCH_FAILED
    assert ended(adapter, [], -9, ENDED).ending is Ending.KILLED
    assert ended(adapter, [], 0, SILENT).ending is Ending.HANG
