"""The hook command: it finds the server, prints what it says, and knows what to do without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import git
from patience import PATIENCE
from serving import (
    SHIM,
    clean_environment,
    decision,
    make_repository,
    serving,
    tool_call,
)

from dos import workspace
from dos.agenthooks import socket_protocol
from dos.agenthooks.dialects import PROJECT_VARIABLES
from dos.agenthooks.io import shim


def run_shim(*words, event, cwd, **environment):
    text = event if isinstance(event, bytes) else json.dumps(event, indent=1).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", SHIM, *words],
        input=text,
        cwd=cwd,
        env=clean_environment(**environment),
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done
    return done


def test_the_command_prints_what_the_server_says(server):
    asked = run_shim("pretool", event=tool_call(server.root, "api/new.txt"), cwd="/")
    assert decision(asked.stdout) == "deny"
    assert b"api" in asked.stdout
    allowed = run_shim("pretool", event=tool_call(server.root, "web/new.txt"), cwd="/")
    assert (allowed.stdout, allowed.stderr) == (b"", b"")
    in_gemini = run_shim(
        "pretool", "--dialect", "gemini",
        event={
            "cwd": str(server.root), "hook_event_name": "BeforeTool", "session_id": "s",
            "tool_name": "write_file", "tool_input": {"file_path": str(server.root / "api/b")},
        },
        cwd="/",
    )  # fmt: skip
    assert json.loads(in_gemini.stdout)["decision"] == "deny"


def test_a_killed_server_leaves_a_person_with_the_verdict_and_an_agent_without(tmp_path):
    root = make_repository(tmp_path / "repository")
    event = tool_call(root, "web/new.txt")
    reading = tool_call(root, "web/made.txt", tool="Read")
    with serving(root) as server:
        assert run_shim("pretool", event=event, cwd=root).stdout == b""
        server.kill()
        assert server.location.socket.exists(), "a crash leaves its socket"
        # A person's session continues, with the verdict of a process of its own.
        assert run_shim("pretool", event=event, cwd=root).stdout == b""
        # An agent of the fleet has nobody to judge it.
        denied = run_shim("pretool", event=event, cwd=root, DOS_LEASE_KEY="k")
        assert decision(denied.stdout) == "deny"
        read = run_shim("pretool", event=reading, cwd=root, DOS_LEASE_KEY="k")
        assert decision(read.stdout) == ""
        for dialect, said in (("gemini", "deny"), ("cursor", "deny")):
            answer = run_shim(
                "pretool", "--dialect", dialect, event=event, cwd=root, DOS_LEASE_KEY="k"
            )
            assert said in answer.stdout.decode()
    # What it left does not hinder the next one.
    with serving(root) as server:
        assert run_shim("pretool", event=event, cwd=root).stdout == b""
        assert server.ask("version")["code"] == 0


def test_the_variable_leads_to_another_socket(server, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    make_repository(elsewhere)
    path = str(server.location.socket)
    asked = run_shim(
        "pretool", event=tool_call(server.root, "api/a"), cwd=elsewhere, DOS_HOOK_SOCKET=path
    )
    assert decision(asked.stdout) == "deny"


def test_the_server_of_the_folder_that_the_hook_was_set_up_in_is_asked(server, tmp_path):
    elsewhere = make_repository(tmp_path / "elsewhere")
    for cwd in ("/", str(elsewhere), "/proc/self/cwd", "/nowhere"):
        event = {**tool_call(server.root, "api/new.txt"), "cwd": cwd}
        found = run_shim("pretool", event=event, cwd=server.root / "web")
        assert decision(found.stdout) == "deny", cwd
        named = {"CLAUDE_PROJECT_DIR": str(server.root)}
        found = run_shim("pretool", event=event, cwd="/", **named)
        assert decision(found.stdout) == "deny", cwd
        if cwd != "/nowhere":
            event["tool_input"] = {"file_path": "web/new.txt"}
            assert run_shim("pretool", event=event, cwd=server.root).stdout == b""


def test_the_fast_command_knows_the_same_variables():
    names = {name: variable.decode() for name, variable in shim.PROJECT_VARIABLES.items()}
    assert names == PROJECT_VARIABLES


def test_a_server_does_not_answer_for_another_repository(server, tmp_path):
    elsewhere = make_repository(tmp_path / "elsewhere")
    answer = server.hook("pretool", tool_call(elsewhere, "api/a"))
    assert "not of" in answer["error"]


BROKEN_EVENTS = [b"", b"{", b"[]", b'{"cwd": 1}', b'{"cwd": "/nowhere"}', b"\xff\xfe", b"{}\n{}"]


@pytest.mark.parametrize("event", BROKEN_EVENTS)
def test_a_broken_event_stops_no_agent(server, event):
    run_shim("pretool", event=event, cwd=server.root)


def test_an_unknown_word_is_for_the_command(server):
    done = run_shim("nothing", event=tool_call(server.root, "api/a"), cwd=server.root)
    assert done.stdout == b"" and b"nothing" in done.stderr


def test_the_socket_is_looked_for_where_the_workspace_has_its_state(tmp_path):
    """The shim cannot import `dos.workspace`, so it finds the same by itself."""
    main = make_repository(tmp_path / "main")
    git("worktree", "add", "--quiet", str(tmp_path / "linked"), cwd=main)
    inner = main / "api" / "module"
    inner.mkdir()
    git("init", "--quiet", ".", cwd=inner)
    plain = tmp_path / "plain"
    (plain / "deep" / "er").mkdir(parents=True)
    configured = tmp_path / "configured"
    (configured / "deep" / "er").mkdir(parents=True)
    (configured / "dos.toml").touch()
    bare_marker = tmp_path / "marked"
    bare_marker.mkdir()
    (bare_marker / ".git").write_text("gitdir: ../main/.git\n")
    link = tmp_path / "link"
    link.symlink_to(main / "docs")
    outside = tmp_path / "outside"
    (outside / ".git").mkdir(parents=True)
    places = [
        main, main / "docs", tmp_path / "linked" / "api", inner, plain / "deep" / "er",
        configured / "deep" / "er", configured, bare_marker, link, outside,
    ]  # fmt: skip
    for place in places:
        state = workspace.find(place).state
        expected = state / socket_protocol.SOCKET_FOLDER / socket_protocol.SOCKET_NAME
        assert Path(shim.socket_of(str(place)).decode()).resolve() == expected.resolve(), place


def test_the_command_imports_nothing_that_has_to_be_found(server):
    """What is imported costs an agent time at every call."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", SHIM, "pretool"],
        input=json.dumps(tool_call(server.root, "api/new.txt")).encode(),
        capture_output=True,
        cwd="/",
        env=clean_environment(),
        timeout=PATIENCE,
    )
    assert decision(done.stdout) == "deny"
    lines = done.stderr.decode().splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time")}
    slow = {"site", "json", "socket", "re", "enum", "os", "pathlib", "subprocess", "msgspec", "dos"}
    assert "_socket" in imported
    assert not imported & slow
