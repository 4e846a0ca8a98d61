"""A server is that of one repository and its settings, wherever the process that asks works."""

import json
import subprocess
import sys

import pytest
from commanding import command, git, in_its_own_process
from patience import PATIENCE
from serving import clean_environment, decision, make_repository, serving, tool_call
from test_http_doors import still
from test_sockets import ask_from_a_process

from dos.agenthooks.socket_protocol import hook_request, verb_request

COUNTED = """[plans]
source = "command"
command = ["{python}", "{program}"]
[enforcement]
posture = "observe"
"""


@pytest.fixture(scope="module")
def bare_server(tmp_path_factory):
    """A server of a repository without dos.toml, so that each work tree may have its own."""
    root = make_repository(tmp_path_factory.mktemp("served") / "repository")
    git("rm", "--quiet", "dos.toml", cwd=root)
    git("commit", "--quiet", "--message", "no settings", cwd=root)
    with serving(root) as found:
        yield found


def with_command(folder):
    """Settings whose command leaves a trace, and the trace."""
    program = folder / "units.py"
    trace = folder / "started"
    program.write_text(f"open({str(trace)!r}, 'w').close()\n")
    config = COUNTED.format(python=sys.executable, program=program)
    (folder / "dos.toml").write_text(config)
    return trace


def disguise(folder, repository, way):
    """Let a folder look like a work tree of a repository."""
    folder.mkdir(parents=True)
    common = repository / ".git"
    if way == "the repository itself":
        (folder / ".git").write_text(f"gitdir: {common}\n")
        return
    private = folder / "private"
    if way == "a private folder of another work tree":
        private = common / "worktrees" / "honest"
        git("worktree", "add", "--quiet", "--detach", str(folder.parent / "honest"), cwd=repository)
    else:
        private.mkdir()
        (private / "HEAD").write_text("ref: refs/heads/main\n")
        (private / "commondir").write_text(f"{common}\n")
        (private / "gitdir").write_text(f"{folder / '.git'}\n")
    (folder / ".git").write_text(f"gitdir: {private}\n")


DISGUISES = (
    "the repository itself",
    "a private folder of its own",
    "a private folder of another work tree",
)


@pytest.mark.parametrize("way", DISGUISES)
def test_a_folder_that_only_looks_like_a_work_tree_sets_nothing(bare_server, tmp_path, way):
    folder = tmp_path / "disguised"
    disguise(folder, bare_server.root, way)
    trace = with_command(folder)
    try:
        for verb in ("plan", "top", "config get", "packet"):
            arguments = {"key": "enforcement.posture"} if verb == "config get" else {}
            line = verb_request(verb, arguments)
            answer = ask_from_a_process(bare_server, line, cwd=folder)
            assert "work tree" in answer["error"], (verb, answer)
        event = tool_call(folder, "api/a")
        for line in (
            hook_request("pretool", "claude-code", event),
            hook_request("pretool", "claude-code", {**event, "cwd": ""}),
            hook_request("stop", "claude-code", event),
        ):
            answer = ask_from_a_process(bare_server, line, cwd=folder)
            assert "work tree" in answer.get("error", ""), answer
        status, _, body = bare_server.request("POST", "/hook/pretool", body=event)
        assert (status, body) == (200, b""), "what is in that folder is nobody's business"
        assert not trace.exists()
    finally:
        git("worktree", "prune", cwd=bare_server.root)


def test_a_folder_with_settings_of_its_own_is_another_workspace(server):
    inner = server.root / "web" / "inner"
    inner.mkdir()
    trace = with_command(inner)
    try:
        answer = ask_from_a_process(server, verb_request("plan", {}), cwd=inner)
        assert str(inner) in answer["error"] and "--workspace" in answer["hint"]
        assert "not of" in server.hook("pretool", tool_call(inner, "a"))["error"]
        assert not trace.exists()
    finally:
        (inner / "dos.toml").unlink()


def test_the_socket_starts_no_program_and_the_command_does(bare_server, tmp_path):
    """What settings start is started by who asks: behind the same walls, if there are any."""
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "--detach", str(linked), cwd=bare_server.root)
    for tree in (linked, bare_server.root):
        trace = with_command(tree)
        refused = ask_from_a_process(bare_server, verb_request("plan", {}), cwd=tree)
        assert "starts no program" in refused["error"], refused
        assert refused["hint"] == "Run the verb on the command line."
        assert not trace.exists()
        alone = in_its_own_process("plan", "--json", cwd=tree)
        assert trace.exists(), alone
        trace.unlink()
    # Who shows the token is the user: the page of the server shows what the command does.
    status, _, body = bare_server.request("GET", "/api/plan")
    assert (status, trace.exists()) == (200, True), body
    for name in ("dos.toml", "units.py", "started"):
        (bare_server.root / name).unlink()


def test_settings_of_a_commit_start_no_program_either(server, tmp_path):
    """`verify` judges by the settings of the ref that it is asked about, which anybody commits."""
    linked = tmp_path / "branch"
    git("worktree", "add", "--quiet", "-b", "branch", str(linked), cwd=server.root)
    trace = tmp_path / "started"
    (linked / "dos.toml").write_text(
        f'[ci]\ncommand = ["touch", "{trace}"]\n[verify]\nci = "require"\n'
    )
    (linked / "api" / "new.py").write_text("value = 1\n")
    git("add", "--all", cwd=linked)
    git("commit", "--quiet", "--message", "AUTH1: add the value", cwd=linked)
    asked = {"units": ["AUTH", "AUTH1"], "ref": "branch"}
    alone = in_its_own_process(
        "verify", "AUTH", "AUTH1", "--ref", "branch", "--json", cwd=server.root
    )
    answer = server.ask("verify", **asked)
    assert (answer["code"], answer["data"]) == (alone.code, alone.json)
    server.get_json("/api/verify?units=AUTH&units=AUTH1&ref=branch")
    assert not trace.exists()
    without = server.ask("verify", **asked, no_ci=True)
    alone = in_its_own_process(
        "verify", "AUTH", "AUTH1", "--ref", "branch", "--no-ci", "--json", cwd=server.root
    )
    assert (without["code"], without["data"]) == (alone.code, alone.json)


def test_a_linked_worktree_gets_what_the_command_says_there(bare_server, tmp_path):
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "--detach", str(linked), cwd=bare_server.root)
    (linked / "dos.toml").write_text(
        '[lanes]\nconcurrent = ["docs"]\n[lanes.trees]\ndocs = ["docs/**"]\n'
        '[enforcement]\nposture = "block"\n'
    )
    inside = linked / "docs"
    for words, arguments in (
        (["config", "get", "lanes.concurrent"], {"key": "lanes.concurrent"}),
        (["config", "path"], {}),
        (["plan"], {}),
    ):
        verb = " ".join(words[:2])
        answer = ask_from_a_process(bare_server, verb_request(verb, arguments), cwd=inside)
        alone = in_its_own_process(*words, "--json", cwd=inside)
        assert (answer["code"], still(answer["data"])) == (alone.code, still(alone.json))
    with subprocess.Popen(["sleep", "3600"]) as holder:
        taken = in_its_own_process(
            "lease-lane", "acquire", "--lane", "docs", "--owner", "A", "--pid", str(holder.pid),
            cwd=linked,
        )  # fmt: skip
        assert taken.code == 0, taken
        try:
            event = tool_call(linked, "docs/a")
            asked = ask_from_a_process(
                bare_server, hook_request("pretool", "claude-code", event), cwd=inside
            )
            alone = subprocess.run(
                command("hook", "pretool"),
                input=json.dumps(event),
                capture_output=True,
                text=True,
                cwd=inside,
                env=clean_environment(),
                timeout=PATIENCE,
            )
            assert decision(asked["stdout"]) == decision(alone.stdout) == "deny"
        finally:
            holder.kill()
