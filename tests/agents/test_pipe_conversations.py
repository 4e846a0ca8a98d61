"""Claude Code and Codex on their own pipes: recorded conversations, and laws of any other."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from amounts import long
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.agents.adapter import Clocks, Ending, Settings
from dos.agents.conversation import Asks
from dos.agents.conversations import claude_code, codex
from dos.agents.conversations.dialogue import MOST_OPEN, Dialogue
from dos.permission.ask import Allow, Deny

FOLDER = Path(__file__).parents[1] / "fixtures" / "conversations"
PROGRAMS = {"claude_code": claude_code, "codex": codex}
HERE = Settings(directory="/repo")
DENIED = Deny(reason="docs/evil.md is outside of your lane.", hint="Stay in src/.")
NOW = datetime(2026, 11, 19, tzinfo=UTC)


def recorded(name):
    lines = map(json.loads, (FOLDER / f"{name}.jsonl").read_text().splitlines())
    return [(each["dir"] == ">", each["m"]) for each in lines]


def program_of(name):
    return PROGRAMS[name.removesuffix("_429")]


def judged(asked):
    is_stray = "docs/" in json.dumps(asked.arguments) + asked.named_command
    return DENIED if is_stray else Allow()


def played(name):
    """The conversation once more: what was sent and what was asked."""
    dialogue = Dialogue(program_of(name))
    sent = [*dialogue.begin("do the work", HERE).replies]
    asked = []
    for ours, message in recorded(name):
        if ours:
            continue
        exchange = dialogue.on_line(json.dumps(message))
        sent += exchange.replies
        for each in exchange.asks:
            asked.append(each)
            sent += dialogue.answer(each, judged(each))
    return dialogue, [json.loads(line) for line in sent], asked


NAMES = [path.stem for path in sorted(FOLDER.glob("*.jsonl"))]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_sent_is_sent_again(name):
    dialogue, sent, _ = played(name)
    assert sent == [message for ours, message in recorded(name) if ours]
    assert dialogue.is_over and not dialogue.open_requests


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_write_was_asked_for_with_its_path(name):
    _, _, asked = played(name)
    write, shell, second = asked
    assert (write.named_paths, second.named_paths) == (
        ("/repo/docs/evil.md",),
        ("/repo/src/ok.py",),
    )
    assert (shell.tool, shell.named_command) == ("Bash", "echo hi > docs/evil2.md")
    assert write.tool == ("Write" if name == "claude_code" else "apply_patch")


def outcome(name):
    dialogue, _, _ = played(name)
    return program_of(name).outcome(dialogue.state, 0, Clocks(ended_at=NOW))


ENDINGS = {
    "claude_code": Ending.OK,
    "codex": Ending.OK,
    "claude_code_429": Ending.TRANSIENT,
    "codex_429": Ending.TRANSIENT,
}


@pytest.mark.parametrize("name", ENDINGS)
def test_how_it_ended(name):
    assert outcome(name).ending is ENDINGS[name]


def lines_of(name):
    return [json.dumps(message) for ours, message in recorded(name) if not ours]


def answers_in(name, replies):
    """The requests that these lines answer."""
    found = []
    for reply in replies:
        assert "\n" not in reply
        record = json.loads(reply)
        if name == "claude_code" and record.get("type") == "control_response":
            found.append(json.dumps(record["response"]["request_id"]))
        elif name == "codex" and "method" not in record:
            found.append(json.dumps(record["id"]))
    return found


CLAUDE_REQUESTS = [
    {"subtype": "can_use_tool", "tool_name": "Write", "input": {"file_path": "/r/x"}},
    {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "touch x"}},
    {"subtype": "can_use_tool"},
    {"subtype": "can_use_tool", "tool_name": 7, "input": [1]},
    {"subtype": "hook_callback", "callback_id": "c"},
    {},
    None,
]
CODEX_REQUESTS = [
    ("item/commandExecution/requestApproval", {"command": "/bin/bash -lc 'touch x'", "cwd": "/r"}),
    ("item/commandExecution/requestApproval", {"command": ["touch"], "kind": "writeStdin"}),
    ("item/commandExecution/requestApproval", {}),
    ("item/fileChange/requestApproval", {"itemId": "unknown"}),
    ("item/fileChange/requestApproval", {"itemId": "unknown", "grantRoot": "/r"}),
    ("item/permissions/requestApproval", {}),
    ("item/tool/requestUserInput", {}),
    ("applyPatchApproval", {"fileChanges": {}}),
    ("no/such/request", None),
]
claude_ids = st.sampled_from(["a", "b", "c", "", "é", "x\ny"])
codex_ids = st.sampled_from([0, 1, 2, "a", "1", None, -1, 2**53])


def claude_line(identity, request):
    return json.dumps(
        {"type": "control_request", "request_id": identity, "request": request},
        separators=(",", ":"), ensure_ascii=False,
    )  # fmt: skip


def codex_line(identity, request):
    return json.dumps({"id": identity, "method": request[0], "params": request[1]})


def withdrawal(name, identity):
    if name == "claude_code":
        return json.dumps({"type": "control_cancel_request", "request_id": identity})
    return json.dumps({"method": "serverRequest/resolved", "params": {"requestId": identity}})


requests = {
    "claude_code": st.builds(claude_line, claude_ids, st.sampled_from(CLAUDE_REQUESTS)),
    "codex": st.builds(codex_line, codex_ids, st.sampled_from(CODEX_REQUESTS)),
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
KEYS = ["type", "id", "method", "params", "request", "request_id", "result", "error", "turn"]
objects = st.dictionaries(st.sampled_from(KEYS), values).map(json.dumps)


def line_of(name):
    whole = st.one_of(
        requests[name], st.sampled_from(lines_of(name)), objects, st.text(max_size=20),
        values.map(json.dumps),
    )  # fmt: skip
    torn = st.builds(lambda line, end: line[: int(len(line) * end)], whole, st.floats(0, 1))
    ids = claude_ids if name == "claude_code" else codex_ids
    return st.one_of(whole, whole, torn, ids.map(lambda each: withdrawal(name, each)))


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=long(60, 20_000))
@given(data=st.data())
def test_each_request_gets_one_answer_whatever_comes_in_which_order(name, data):
    dialogue = Dialogue(PROGRAMS[name])
    dialogue.begin("do the work", HERE)
    answered: list[str] = []
    waiting: list[Asks] = []
    for _ in range(data.draw(st.integers(1, 12))):
        was_over = dialogue.is_over
        if waiting and data.draw(st.booleans()):
            asked = data.draw(st.sampled_from(waiting))
            is_open = asked in dialogue.open_requests
            sent = dialogue.answer(asked, data.draw(st.sampled_from([Allow(), DENIED])))
            assert bool(answers_in(name, sent)) == (is_open and not was_over)
            assert dialogue.answer(asked, Allow()) == (), "not twice"
        else:
            exchange = dialogue.on_line(data.draw(line_of(name)))
            sent = exchange.replies
            waiting += exchange.asks
            assert not (was_over and (sent or exchange.asks))
            assert all(asked in dialogue.open_requests for asked in exchange.asks)
        answered += answers_in(name, sent)
    assert len(answered) == len(set(answered))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_withdrawn_request_is_not_answered(name):
    dialogue = Dialogue(PROGRAMS[name])
    dialogue.begin("do the work", HERE)
    line = {
        "claude_code": claude_line("a", CLAUDE_REQUESTS[0]),
        "codex": codex_line("a", CODEX_REQUESTS[0]),
    }[name]
    (asked,) = dialogue.on_line(line).asks
    assert dialogue.open_requests == (asked,)
    dialogue.on_line(withdrawal(name, "a"))
    assert dialogue.open_requests == () and dialogue.answer(asked, Allow()) == ()


@pytest.mark.parametrize("name", PROGRAMS)
def test_too_many_open_requests_are_refused(name):
    dialogue = Dialogue(PROGRAMS[name])
    dialogue.begin("do the work", HERE)
    lines = {
        "claude_code": lambda number: claude_line(str(number), CLAUDE_REQUESTS[0]),
        "codex": lambda number: codex_line(number, CODEX_REQUESTS[0]),
    }[name]
    for number in range(MOST_OPEN):
        assert dialogue.on_line(lines(number)).asks
    refused = dialogue.on_line(lines(MOST_OPEN))
    assert not refused.asks and len(answers_in(name, refused.replies)) == 1
    assert len(dialogue.open_requests) == MOST_OPEN


def test_a_torn_request_of_claude_code_is_refused_and_not_left_waiting():
    dialogue = Dialogue(claude_code)
    dialogue.begin("do the work", HERE)
    line = claude_line("a", {**CLAUDE_REQUESTS[0], "input": {"content": "x" * 100}})
    (reply,) = dialogue.on_line(line[:120]).replies
    assert json.loads(reply)["response"]["response"]["behavior"] == "deny"
    assert dialogue.on_line(line).asks == (), "it has its answer"


COMMANDS = {
    "/bin/bash -lc 'touch x'": "touch x",
    "bash -c 'cd a && touch \"b c\"'": 'cd a && touch "b c"',
    "touch x": "touch x",
    "bash -lc 'a' b": "bash -lc 'a' b",
    "bash -lc 'torn": "bash -lc 'torn",
    "python -c 'x'": "python -c 'x'",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_shell_around_a_command_of_codex_is_taken_off(command):
    dialogue = Dialogue(codex)
    dialogue.begin("do the work", HERE)
    line = codex_line(1, ("item/commandExecution/requestApproval", {"command": command}))
    assert dialogue.on_line(line).asks[0].command == COMMANDS[command]
