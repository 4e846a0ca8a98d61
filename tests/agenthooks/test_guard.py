"""`dos guard`: what it adds to the command line of an agent program, and that it becomes it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from commanding import command, in_process
from patience import PATIENCE

from dos.agenthooks.guard import CLAIM_PROMPT
from dos.errors import BadInput


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Another current directory, and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("OPENCODE_CONFIG_CONTENT", raising=False)
    return tmp_path


def plan(*words):
    answer = in_process("guard", "--print-config", "--json", *words)
    assert answer.code == 0, answer
    return answer.json


def after(argv, option):
    return argv[argv.index(option) + 1]


def test_claude_code_gets_the_server_and_the_hooks_before_its_own_words():
    made = plan("--", "claude", "-p", "fix it")
    assert {"argv", "mcp_config", "settings", "host_command", "notes"} <= set(made)
    assert made["host_command"] == ["claude", "-p", "fix it"]
    assert made["argv"][0] == "claude" and made["argv"][-2:] == ["-p", "fix it"]
    assert json.loads(after(made["argv"], "--mcp-config")) == made["mcp_config"]
    assert json.loads(after(made["argv"], "--settings")) == made["settings"]
    assert made["mcp_config"]["mcpServers"]["dos"]["args"] == ["mcp"]
    assert set(made["settings"]["hooks"]) == {"PreToolUse", "PostToolUse", "SessionStart"}
    # It takes every word after --mcp-config as one more configuration.
    assert after(made["argv"], made["argv"][made["argv"].index("--mcp-config") + 1]) == "--settings"


def test_the_hooks_of_claude_code_judge_a_call(place):
    """As the program runs them: by a shell, with the event on standard input."""
    subprocess.run(["git", "init", "--quiet", place], check=True)
    (place / "dos.toml").write_text(
        '[lanes]\nconcurrent = ["api"]\n[lanes.trees]\napi = ["api/**"]\n'
    )
    taken = in_process("lease-lane", "acquire", "--lane", "api", "--owner", "worker")
    assert taken.code == 0, taken
    hooks = plan("--verify-on-stop", "--", "claude")["settings"]["hooks"]
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(place),
        "tool_name": "Write",
        "tool_input": {"file_path": "api/x.py", "content": ""},
        "last_assistant_message": "I looked around.",
    }
    environment = {**os.environ, "DOS_HOOK_POSTURE": "block"}

    def answer(name):
        ((entry,),) = (group["hooks"] for group in hooks[name])
        return subprocess.run(
            entry["command"], shell=True, input=json.dumps(event | {"hook_event_name": name}),
            cwd=place, env=environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    judged = answer("PreToolUse")
    assert json.loads(judged.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", judged
    for name in hooks:
        answered = answer(name)
        assert (answered.returncode, answered.stderr) == (0, ""), answered


def test_each_flag_adds_what_it_says():
    bare = plan("--no-mcp", "--", "claude")
    assert bare["mcp_config"] is None and "--mcp-config" not in bare["argv"]
    assert "--strict-mcp-config" in plan("--strict-mcp", "--", "claude")["argv"]
    assert "Stop" in plan("--verify-on-stop", "--", "claude")["settings"]["hooks"]
    asked = plan("--claim-prompt", "--", "claude")["argv"]
    assert after(asked, "--append-system-prompt") == CLAIM_PROMPT


@pytest.mark.parametrize(
    "words",
    [("--append-system-prompt", "Be brief."), ("--append-system-prompt=Be brief.",)],
)
def test_the_prompt_of_the_person_is_kept(words):
    argv = plan("--claim-prompt", "--", "claude", *words)["argv"]
    (said,) = [word for word in argv if "Be brief." in word]
    assert said.endswith(f"Be brief.\n\n{CLAIM_PROMPT}")
    assert sum(word.startswith("--append-system-prompt") for word in argv) == 1


def test_codex_gets_settings_by_words_and_a_note_about_hooks():
    made = plan("--claim-prompt", "--", "/opt/codex", "exec", "x")
    assert made["argv"][0] == "/opt/codex" and made["argv"][-2:] == ["exec", "x"]
    assert 'mcp_servers.dos.args=["mcp"]' in made["argv"]
    assert any(word.startswith("developer_instructions=") for word in made["argv"])
    assert "dos hooks install codex" in made["notes"][0]


def test_opencode_gets_settings_by_a_variable_beside_its_own(monkeypatch):
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"model": "m", "plugin": ["file:///mine.js"]}')
    made = plan("--", "opencode", "run", "x")
    settings = json.loads(made["environment"]["OPENCODE_CONFIG_CONTENT"])
    assert settings["model"] == "m" and settings["plugin"][0] == "file:///mine.js"
    plugin = settings["plugin"][1].removeprefix("file://")
    assert '"hook"' in Path(plugin).read_text() and settings["mcp"]["dos"]["enabled"]
    assert plan("--", "opencode")["environment"].keys() == {"OPENCODE_CONFIG_CONTENT"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "no program"),
        (("--",), "no program"),
        (("--", "vim"), "claude, codex, opencode"),
        (("--", "gemini"), "dos hooks install gemini"),
        (("--", "claude", "--settings", "x.json"), "--settings"),
        (("--", "claude", "--settings={}"), "--settings"),
        (("--verify-on-stop", "--", "codex"), "--verify-on-stop"),
        (("--claim-prompt", "--", "opencode"), "--claim-prompt"),
        (("--strict-mcp", "--", "opencode"), "--strict-mcp"),
    ],
)
def test_what_cannot_be_passed_is_an_error_that_says_what_to_do(words, named):
    answer = in_process("guard", *words)
    assert answer.code == 2 and named in answer.err, answer


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"plugin": 7}', '{"mcp": []}'])
def test_settings_of_opencode_that_are_none_are_named(monkeypatch, text):
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", text)
    answer = in_process("guard", "--", "opencode")
    assert answer.code == BadInput.exit_code and "OPENCODE_CONFIG_CONTENT" in answer.err


def test_a_program_that_is_not_there_is_127(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    answer = in_process("guard", "--", "claude")
    assert answer.code == 127 and "'claude'" in answer.err


def test_it_becomes_the_program_with_its_words_and_its_exit_code(place):
    script = place / "bin" / "claude"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "pid $$"\nfor word; do echo "[$word]"; done\nexit 23\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        command("guard", "--no-mcp", "--", "claude", "--json", "-p", "two words\n"),
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 23
    lines = out.splitlines()
    assert lines[0] == f"pid {process.pid}"
    assert lines[1] == "[--settings]" and "[--json]" in lines and "[two words" in lines


def test_showing_the_plan_starts_nothing(place, monkeypatch):
    script = place / "claude"
    script.write_text(f"#!/bin/sh\ntouch {place}/started\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(place), prepend=":")
    assert in_process("guard", "--print-config", "--", "claude").code == 0
    assert not (place / "started").exists()
