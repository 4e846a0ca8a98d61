"""The hooks that agent programs call with the settings that dos-kernel wrote for them: they never
block a call.

Exit code 2 is "deny" to Claude Code, Codex and Gemini CLI; anything but 0 fails closed in some
program.
"""

import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commanding import command, in_process

FIXTURES = Path(__file__).parents[1] / "fixtures"
MOMENTS = ("pretool", "posttool", "marker", "session")
TOOL = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}
GARBAGE = [b"", b"\n", b"{", b"[]", b"7", b"null", b"\xff\xfe", b"\0", b"[" * 100_000,
           b'{"cwd": "\\u0000"}',
           b'{"session_id": "a\\u0000b", "cwd": 7, "workspace_roots": [{}]}']  # fmt: skip


def wired() -> list[str]:
    """Every command line that the released settings hold."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            found.extend(
                text for key, text in value.items() if key == "command" and isinstance(text, str)
            )
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for path in sorted((FIXTURES / "released_settings").iterdir()):
        walk(
            tomllib.loads(path.read_text())
            if path.suffix == ".toml"
            else json.loads(path.read_text())
        )
    return sorted(set(found))


def captured() -> list[dict]:
    """Every event that a real program sent to a hook, as it was caught."""
    events, decoder = [], json.JSONDecoder()
    for path in sorted((FIXTURES / "hooks").iterdir()):
        text = path.read_text()
        while text := text.strip():
            found, end = decoder.raw_decode(text)
            events.append(found.get("ev", found))
            text = text[end:]
    return events


def call(monkeypatch, raw: bytes, *words: str):
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        return in_process(*words)


def faults(dos) -> list[dict]:
    return [
        event["body"]
        for event in dos("journal", "tail", "--json").lines
        if event["kind"] == "hook_fault"
    ]


def test_the_settings_of_four_hosts_are_all_tried():
    lines = wired()
    assert len(lines) == 12 and all(line.startswith("dos hook ") for line in lines)
    assert len(captured()) > 25


@pytest.mark.parametrize("line", wired())
def test_no_captured_event_is_blocked_by_what_the_released_settings_call(
    workspace, monkeypatch, line
):
    for event in captured():
        answer = call(monkeypatch, json.dumps(event).encode(), *shlex.split(line)[1:])
        assert answer.code == 0 and "error" not in answer.err, (event, answer)
        if " stop " not in line:
            assert (answer.out, answer.err) == ("", ""), event
        # a claim that git does not back: the program's own refusal to stop, never of a tool call
        elif answer.out:
            refusal = json.loads(answer.out)
            assert event["hook_event_name"] in ("Stop", "AfterAgent") and set(refusal) <= {
                "decision",
                "reason",
                "followup_message",
            }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", wired())
@pytest.mark.parametrize("raw", GARBAGE, ids=range(len(GARBAGE)))
def test_no_garbage_makes_them_speak_or_fail(workspace, monkeypatch, line, raw):
    answer = call(monkeypatch, raw, *shlex.split(line)[1:])
    assert (answer.code, answer.out) == (0, "") and "bug" not in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("hook",),
        ("hook", "nonsense"),
        ("hook", "pretool", "--nonsense"),
        ("hook", "pretool", "extra"),
        ("hook", "pretool", "--dialect", "nonsense"),
        ("hook", "pretool", "--dialect"),
        ("hook", "pretool", "--workspace", "/nowhere"),
        ("--workspace", "/nowhere", "hook", "posttool"),
        ("hook", "pretool", "--workspace"),
        ("hook", "posttool", "--output", "nonsense"),
        ("hook", "marker", "--driver", "x"),
        ("--job", "hook", "session"),
    ],
    ids=" ".join,
)
def test_whatever_is_typed_wrongly_is_one_line_and_blocks_nothing(workspace, monkeypatch, words):
    answer = call(monkeypatch, json.dumps(TOOL).encode(), *words)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.startswith("warning: dos hook") and answer.err.count("\n") == 1, answer.err


@pytest.mark.parametrize("moment", [*MOMENTS, "stop"])
def test_a_broken_workspace_blocks_nothing(workspace, tmp_path, monkeypatch, moment, dos):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    raw = json.dumps(
        {**TOOL, "hook_event_name": "Stop", "last_assistant_message": "DOS-CLAIM: AUTH AUTH2"}
    ).encode()
    (workspace / "dos.toml").write_text("[lanes\n")
    assert call(monkeypatch, raw, "hook", moment).code == 0
    (workspace / ".git" / "dos" / "state.db").write_bytes(b"nonsense" * 1000)
    assert call(monkeypatch, raw, "hook", moment, "--dialect", "nonsense").code == 0
    (workspace / ".git" / "HEAD").write_text("nonsense")
    answer = call(monkeypatch, raw, "hook", moment)
    assert (answer.code, answer.out) == (0, "") and "bug" not in answer.err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert (answer := call(monkeypatch, raw, "hook", moment)).code == 0 and answer.out == ""


def test_the_first_fault_of_a_session_is_written_down(workspace, dos, monkeypatch):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    for session in ("one", "one", "two"):
        raw = json.dumps({**TOOL, "session_id": session, "cwd": str(workspace)}).encode()
        call(monkeypatch, raw, "hook", "pretool", "--dialect", "nonsense")
        call(monkeypatch, raw, "hook", "posttool", "--nonsense")
    call(monkeypatch, b"{", "hook", "stop")
    found = faults(dos)
    assert [(each["moment"], each.get("session", "")) for each in found] == [
        ("pretool", "one"),
        ("pretool", "two"),
        ("stop", ""),
    ]
    assert "unknown dialect" in found[0]["problem"]
    assert dos("journal", "check").code == 0


def test_a_broken_dos_toml_keeps_no_fault_from_being_written(workspace, dos, monkeypatch):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    good = (workspace / "dos.toml").read_text()
    (workspace / "dos.toml").write_text(good + "[nonsense]\nx = 1\n")
    call(monkeypatch, json.dumps(TOOL).encode(), "hook", "nonsense")
    (workspace / "dos.toml").write_text(good)
    assert [fault["moment"] for fault in faults(dos)] == ["nonsense"]


def test_no_journal_is_made_for_a_fault(workspace, state, monkeypatch):
    call(monkeypatch, json.dumps(TOOL).encode(), "hook", "nonsense")
    assert not state.exists()


@pytest.mark.parametrize(
    "words", [("pretool",), ("stop",), (), ("nonsense",), ("pretool", "--dialect", "x")]
)
def test_on_a_terminal_it_is_a_usage_error(workspace, words):
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(
            command("hook", *words),
            cwd=workspace,
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        os.close(controller)
        os.close(terminal)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("error: ")


def test_as_a_program_runs_it_with_nothing_on_any_stream(workspace):
    """By a shell, `dos` on the path, and with its streams closed: as hosts do."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in (
        "dos hook pretool --workspace . --dialect codex",
        "dos hook nonsense <&- 2>&- >&-",
    ):
        done = subprocess.run(
            line, shell=True, cwd=workspace, input=json.dumps(TOOL).encode(),
            env={**os.environ, "PATH": path}, capture_output=True, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b""), done


def test_each_moment_has_a_help_page(workspace):
    for moment in MOMENTS:
        answer = in_process("hook", moment, "--help")
        assert answer.code == 0 and re.search(r"exit codes:\n  0 +reported", answer.out)
