"""What each agent program sends to a hook and understands as an answer: tables, byte for byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.agenthooks import dialects
from dos.agenthooks.events import Action, HookEvent, HookVerdict
from dos.errors import BadInput

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hooks"
DENY = HookVerdict(action=Action.DENY, reason="R", context="C")
ASK = HookVerdict(action=Action.ASK, reason="R")
ALLOW = HookVerdict(action=Action.ALLOW, reason="R")
WARN = HookVerdict(action=Action.WARN, context="C")


def claude(decision, **more):
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": "R",
            **more,
        }
    }


def context(event):
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "C"}}


BLOCK = {"decision": "block", "reason": "R"}
GEMINI_CONTEXT = {"hookSpecificOutput": {"additionalContext": "C"}}
# dialect, moment -> the answers to DENY, ASK, ALLOW and WARN; None: nothing is printed
ANSWERS = {
    ("claude-code", "pretool"): (
        claude("deny", additionalContext="C"), claude("ask"), claude("allow"),
        context("PreToolUse"),
    ),
    ("codex", "pretool"): (
        claude("deny", additionalContext="C"), claude("deny"), None, context("PreToolUse"),
    ),
    ("opencode", "pretool"): (
        claude("deny", additionalContext="C"), claude("deny"), claude("allow"),
        context("PreToolUse"),
    ),
    ("gemini", "pretool"): (
        {"decision": "deny", "reason": "R C"}, {"decision": "ask", "reason": "R"},
        {"decision": "allow", "reason": "R"}, GEMINI_CONTEXT,
    ),
    ("cursor", "pretool"): (
        {"permission": "deny", "agent_message": "R C"},
        {"permission": "ask", "agent_message": "R", "user_message": "R"},
        {"permission": "allow", "agent_message": "R"},
        {"permission": "allow", "agent_message": "C"},
    ),
    ("antigravity", "pretool"): (
        {"decision": "deny", "reason": "R C"}, {"decision": "ask", "reason": "R"},
        {"decision": "allow", "reason": "R"}, None,
    ),
    ("hermes", "pretool"): ({"decision": "block", "reason": "R C"}, BLOCK, {}, {}),
}  # fmt: skip
WARNED_AFTER = {
    "claude-code": context("PostToolUse"),
    "codex": context("PostToolUse"),
    "opencode": context("PostToolUse"),
    "gemini": GEMINI_CONTEXT,
    "cursor": {"additional_context": "C"},
    "antigravity": None,
    "hermes": {},
}
STOPS = {
    "claude-code": BLOCK,
    "codex": BLOCK,
    "opencode": BLOCK,
    "gemini": BLOCK,
    "hermes": BLOCK,
    "cursor": {"followup_message": "R"},
    "antigravity": {"decision": "continue", "reason": "R"},
}


def printed(dialect, moment, verdict):
    raw = dialects.render(dialect, moment, verdict)
    return json.loads(raw) if raw else None


@pytest.mark.parametrize(("dialect", "moment"), ANSWERS)
def test_each_program_gets_an_answer_that_it_honours(dialect, moment):
    answers = tuple(printed(dialect, moment, verdict) for verdict in (DENY, ASK, ALLOW, WARN))
    assert answers == ANSWERS[dialect, moment]


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_a_warning_after_a_tool_and_a_refused_stop_have_the_form_of_the_program(dialect):
    assert printed(dialect, "posttool", WARN) == WARNED_AFTER[dialect]
    for moment in ("stop", "marker"):
        refused = HookVerdict(action=Action.DENY, reason="R")
        assert printed(dialect, moment, refused) == STOPS[dialect]


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
@pytest.mark.parametrize("moment", ["pretool", "posttool", "stop", "marker", "session"])
def test_no_opinion_prints_nothing_and_nothing_ever_changes_a_call(dialect, moment):
    assert dialects.render(dialect, moment, HookVerdict()) == b""
    for verdict in (DENY, ASK, ALLOW, WARN):
        text = dialects.render(dialect, moment, verdict).decode()
        for key in ("updatedInput", "updated_input", "tool_input", "overwrite"):
            assert key not in text
        assert '"permissionDecision":"allow"' not in text or verdict is ALLOW


CANNED = {
    "claude-code": (
        '{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/r","permission_mode":"default",'
        '"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/r/src/a.py",'
        '"content":"x"},"tool_use_id":"u"}'
    ),
    "codex": (
        '{"session_id":"s","transcript_path":null,"cwd":"/r","hook_event_name":"PreToolUse",'
        '"model":"m","permission_mode":"default","turn_id":"t","tool_name":"apply_patch",'
        '"tool_input":{"command":"*** Begin Patch\\n*** Update File: src/a.py\\n"},'
        '"tool_use_id":"u"}'
    ),
    "gemini": (
        '{"session_id":"s","transcript_path":"/t.json","cwd":"/r","hook_event_name":"BeforeTool",'
        '"timestamp":"2026-01-01T00:00:00Z","tool_name":"write_file","tool_input":{"file_path":'
        '"/r/src/a.py","content":"x"}}'
    ),
    "cursor": (
        '{"conversation_id":"s","generation_id":"g","hook_event_name":"beforeMCPExecution",'
        '"workspace_roots":["/r"],"tool_name":"write","tool_input":"{\\"path\\":\\"src/a.py\\"}"}'
    ),
    "antigravity": (
        '{"conversationId":"s","workspacePaths":["/r"],"transcriptPath":"/t",'
        '"artifactDirectoryPath":"/a","modelName":"m","stepIdx":1,"toolCall":{"name":'
        '"write_to_file","args":{"TargetFile":"/r/src/a.py"}}}'
    ),
    "hermes": (
        '{"hook_event_name":"pre_tool_call","tool_name":"write_file","tool_input":{"path":'
        '"src/a.py"},"session_id":"s","cwd":"/r","extra":{}}'
    ),
}
TOOLS = {
    "claude-code": ("Write", {"file_path": "/r/src/a.py", "content": "x"}, ()),
    "codex": (
        "apply_patch", {"command": "*** Begin Patch\n*** Update File: src/a.py\n"}, (),
    ),
    "gemini": ("write_file", {"file_path": "/r/src/a.py", "content": "x"}, ()),
    "cursor": ("write", {"path": "src/a.py"}, ()),
    "antigravity": ("write_to_file", {"TargetFile": "/r/src/a.py"}, ("/r/src/a.py",)),
    "hermes": ("write_file", {"path": "src/a.py"}, ()),
}  # fmt: skip


@pytest.mark.parametrize("dialect", CANNED)
def test_the_events_of_six_programs_say_the_same_thing(dialect):
    event = dialects.parse(dialect, "pretool", json.loads(CANNED[dialect]))
    assert (event.moment, event.session, event.cwd) == ("pretool", "s", "/r")
    tool, arguments, paths = TOOLS[dialect]
    assert (event.tool, dict(event.arguments), event.paths) == (tool, arguments, paths)
    assert not event.has_result and event.call().footprint("/r").paths == ("src/a.py",)


def test_a_shell_command_of_cursor_and_of_antigravity_is_found():
    shell = {"hook_event_name": "beforeShellExecution", "command": "echo x > a", "cwd": "/r"}
    event = dialects.parse("cursor", "pretool", shell)
    call = event.call()
    assert (call.tool, call.named_command, call.cwd) == ("Bash", "echo x > a", "/r")
    assert call.footprint("/r").paths == ("a",)
    call = {"toolCall": {"name": "run_command", "args": {"CommandLine": "ls", "Cwd": "/r/b"}}}
    event = dialects.parse("antigravity", "pretool", call)
    call = event.call()
    assert (call.tool, call.named_command, call.cwd) == ("run_command", "ls", "/r/b")
    assert call.footprint("/r").has_no_effect


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("claude.jsonl", {"session": 1, "": 2, "pretool": 1, "posttool": 1, "stop": 1}),
        ("codex_trusted.jsonl", {"session": 1, "pretool": 2, "posttool": 1, "stop": 1}),
        ("gemini_before_tool.jsonl", {"pretool": 1}),
        ("gemini_after_tool.jsonl", {"posttool": 1}),
        ("gemini_after_agent.jsonl", {"stop": 3}),
    ],
)
def test_what_real_programs_sent_is_understood(name, counts):
    text, found, decoder = (FIXTURES / name).read_text(), {}, json.JSONDecoder()
    host = name.partition(".")[0].partition("_")[0].replace("claude", "claude-code")
    while text := text.strip():
        event, end = decoder.raw_decode(text)
        text = text[end:]
        parsed = dialects.parse(host, "other", event.get("ev", event))
        assert parsed.session and parsed.cwd == "/repo"
        if parsed.moment in ("pretool", "posttool"):
            assert parsed.tool and parsed.arguments
            assert parsed.has_result == (parsed.moment == "posttool")
        if parsed.tool in ("Bash", "run_shell_command"):
            assert parsed.call().named_command
        found[parsed.moment] = found.get(parsed.moment, 0) + 1
    assert found == counts


def test_an_unknown_dialect_is_an_error_and_not_silence():
    with pytest.raises(BadInput, match="unknown dialect"):
        dialects.parse("nonsense", "pretool", {})
    with pytest.raises(BadInput, match="unknown dialect"):
        dialects.render("nonsense", "pretool", DENY)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
KEYS = [
    "hook_event_name",
    "cwd",
    "tool_name",
    "tool_input",
    "toolCall",
    "tool_response",
    "status",
    "workspace_roots",
    "session_id",
    "command",
    "stop_hook_active",
    "loop_count",
    "last_assistant_message",
]


@given(
    dialect=st.sampled_from(dialects.DIALECTS),
    event=st.dictionaries(st.sampled_from(KEYS), values),
)
def test_any_event_can_be_read(dialect, event):
    assert isinstance(dialects.parse(dialect, "pretool", event), HookEvent)


@pytest.mark.parametrize(
    ("name", "permission"),
    [("preToolUse", "deny"), ("beforeShellExecution", "ask"),
     ("beforeMCPExecution", "ask"), ("", "ask")],
)  # fmt: skip
def test_cursor_is_asked_only_where_it_can_ask(name, permission):
    said = json.loads(dialects.render("cursor", "pretool", ASK, name=name))
    assert (said["permission"], said["agent_message"]) == (permission, ASK.reason)
    event = {"hook_event_name": name, "tool_name": "Write", "tool_input": {"file_path": "x"}}
    assert dialects.parse("cursor", "pretool", event).name == name
