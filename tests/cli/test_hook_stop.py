"""The stop hook, as an agent program starts it: a process with an event on its input."""

import io
import subprocess
from pathlib import Path

import pytest
from commanding import command, git, in_process
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import json
from patience import PATIENCE

pytestmark = pytest.mark.sampled(3)

FIXTURES = Path(__file__).parents[1] / "fixtures"
STOP = {"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": False}


@pytest.fixture
def repository(workspace):
    """AUTH1 is there, AUTH2 is not, AUTH3 is a name and nothing else."""
    (workspace / "api" / "login.py").write_text("def login():\n    return 1\n")
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "AUTH1: log in", cwd=workspace)
    git("commit", "--quiet", "--allow-empty", "--message", "AUTH3: log out", cwd=workspace)
    return workspace


def stop(where, event, *words):
    raw = event if isinstance(event, bytes) else json.encode(event)
    return subprocess.run(
        command("hook", "stop", *words), cwd=where, input=raw, capture_output=True, timeout=PATIENCE
    )


def claimed(*phases, **more):
    return {
        **STOP,
        "last_assistant_message": "\n".join(f"DOS-CLAIM: AUTH {phase}" for phase in phases),
        **more,
    }


@pytest.mark.parametrize(
    ("dialect", "keys"),
    [
        ((), {"decision": "block"}),
        (("--dialect", "claude-code"), {"decision": "block"}),
        (("--dialect", "codex"), {"decision": "block"}),
        (("--dialect", "gemini"), {"decision": "block"}),
        (("--dialect", "cursor"), {}),
        (("--dialect", "antigravity"), {"decision": "continue"}),
    ],
)
def test_a_claim_that_git_does_not_back_is_refused_in_the_programs_bytes(repository, dialect, keys):
    done = stop(repository, claimed("AUTH2"), *dialect)
    decoded = json.decode(done.stdout)
    reason = decoded.pop("followup_message" if "cursor" in dialect else "reason")
    assert (done.returncode, decoded) == (0, keys)
    assert "AUTH/AUTH2: T0 absent" in reason and done.stdout.count(b"\n") == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dialect", ["claude-code", "codex", "gemini", "cursor", "antigravity"])
@pytest.mark.parametrize(
    "event", [claimed("AUTH1"), claimed("AUTH2", stop_hook_active=True)], ids=["backed", "again"]
)
def test_a_claim_that_is_backed_or_was_refused_already_passes_in_silence(
    repository, dialect, event
):
    done = stop(repository, event, "--dialect", dialect)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("event", "words", "refused"),
    [
        (claimed("AUTH3"), (), True),
        (claimed("AUTH1", "AUTH2"), (), True),
        (claimed("AUTH2", stop_hook_active=True), ("--force",), True),
        ({**STOP, "last_assistant_message": "AUTH2 is done and shipped"}, (), False),
        ({**STOP, "last_assistant_message": "AUTH2 is done and shipped"}, ("--strict",), True),
        ({**STOP, "last_assistant_message": "AUTH2 is not done"}, ("--strict",), False),
        ({**STOP, "last_assistant_message": "see DOS-CLAIM: AUTH AUTH2"}, (), False),
        ({**claimed("AUTH2"), "hook_event_name": "PreToolUse"}, (), False),
        ({**STOP, "last_assistant_message": "hello"}, ("--plan", "AUTH", "--phase", "AUTH2"), True),
        (b"", ("--plan", "AUTH", "--phase", "AUTH2"), True),
        (b"", ("--plan", "AUTH", "--phase", "AUTH1"), False),
        ({"hook_event_name": "AfterAgent", "prompt_response": "DOS-CLAIM: AUTH AUTH2"}, (), True),
        ({"finalModelOutput": "DOS-CLAIM: AUTH AUTH2", "executionNum": 0}, (), True),
    ],
)
def test_which_claims_are_refused(repository, event, words, refused):
    done = stop(repository, event, *words)
    assert (done.returncode, bool(done.stdout)) == (0, refused), done


def test_prose_is_warned_of_on_stderr(repository):
    done = stop(repository, {**STOP, "last_assistant_message": "AUTH2 is done and shipped"})
    assert done.stdout == b"" and b"AUTH/AUTH2 is said to be done" in done.stderr


def test_the_captured_lie_of_claude_code(repository):
    event = next(
        line
        for line in (FIXTURES / "hooks" / "claude.jsonl").read_bytes().splitlines()
        if b'"Stop"' in line
    )
    done = stop(
        repository, event, "--strict"
    )  # its directory is not on this machine, so this one is asked
    reason = json.decode(done.stdout)["reason"]
    assert "AUTH/AUTH2" in reason and "AUTH/AUTH1" not in reason


@pytest.mark.parametrize("program", ["claude", "codex", "gemini", "opencode"])
def test_the_captured_lie_of_each_program_is_read_from_its_transcript(repository, program):
    path = FIXTURES / "agents" / f"{program}-ok.jsonl"
    for done in (
        stop(repository, {**STOP, "transcript_path": str(path)}, "--strict"),
        stop(repository, b"", "--transcript", str(path), "--strict"),
    ):
        assert "AUTH/AUTH2" in json.decode(done.stdout)["reason"]


def test_json_tells_each_claim(repository):
    decoded = json.decode(stop(repository, claimed("AUTH1", "AUTH2"), "--json").stdout)
    assert (decoded["ok"], decoded["checked"]) == (False, 2) and decoded["reason"]
    assert [
        (row["phase"], row["shipped"], row["source"], row["rung"]) for row in decoded["results"]
    ] == [
        ("AUTH1", True, "grep-subject", "marker"),
        ("AUTH2", False, "none", "marker"),
    ]
    assert json.decode(stop(repository, claimed(), "--json").stdout) == {"ok": True, "results": []}


def test_what_cannot_be_told_is_neither_a_lie_nor_fine(tmp_path):
    """Outside of any repository."""
    done = stop(tmp_path, claimed("AUTH2"))
    assert (done.returncode, done.stdout) == (
        0,
        b"",
    ) and b"warning: whether AUTH/AUTH2" in done.stderr
    decoded = json.decode(stop(tmp_path, claimed("AUTH2"), "--json").stdout)
    assert (decoded["ok"], decoded["results"][0]["shipped"]) == (None, None)


def test_a_transcript_that_is_not_there_is_not_fine(repository):
    done = stop(repository, {**STOP, "transcript_path": "/nowhere/t.jsonl"}, "--json")
    assert json.decode(done.stdout)["ok"] is None and b"/nowhere/t.jsonl" in done.stderr


@pytest.mark.soak
def test_the_workspace_is_the_flags_then_the_events_then_the_current_one(repository, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    at = {"cwd": str(repository)}
    assert stop(elsewhere, claimed("AUTH1", **at)).stderr == b""
    assert json.decode(stop(elsewhere, claimed("AUTH2", **at)).stdout)["decision"] == "block"
    assert (
        b"warning" in stop(repository, claimed("AUTH1", **at), "--workspace", str(elsewhere)).stderr
    )
    assert (
        stop(elsewhere, claimed("AUTH1", cwd="/nowhere"), "--workspace", str(repository)).stderr
        == b""
    )
    roots = {"workspacePaths": [str(repository)], "finalModelOutput": "DOS-CLAIM: AUTH AUTH1"}
    assert stop(elsewhere, roots, "--dialect", "antigravity").stderr == b""


@pytest.mark.parametrize(
    "words",
    [
        ("--dialect", "nonsense"),
        ("--plan", "AUTH"),
        ("--phase", "AUTH1"),
        ("--last-turns", "0"),
        ("--nonsense",),
    ],
)
def test_a_hook_that_is_wired_wrongly_says_so_and_blocks_nothing(repository, words):
    done = stop(repository, claimed("AUTH2"), *words)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"warning: dos hook stop: ") and done.stderr.count(b"\n") == 1


def test_a_broken_workspace_costs_no_agent_its_work(repository):
    (repository / "dos.toml").write_text("[lanes\n")
    (repository / ".git" / "HEAD").write_text("nonsense")
    done = stop(repository, claimed("AUTH2"))
    assert (done.returncode, done.stdout) == (0, b"") and done.stderr.startswith(b"warning: ")
    assert b"Traceback" not in done.stderr
    assert stop(repository, claimed("AUTH2"), "--workspace", "/nowhere").returncode == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "raw",
    [b"", b"\n", b"{", b"[]", b"7", b"null", b'"x"', b"\xff\xfe", b"\0", b"[" * 100_000, b"{}" * 9,
     b'{"cwd": "\\u0000"}', b'{"hook_event_name": [], "status": {}}',
     b'{"last_assistant_message": 3, "transcript_path": "a\\u0000b"}'],
)  # fmt: skip
def test_no_input_makes_it_speak_or_fail(repository, raw):
    done = stop(repository, raw)
    assert (
        (done.returncode, done.stdout) == (0, b"")
        and b"Traceback" not in done.stderr
        and b"bug" not in done.stderr
    )


fields = st.dictionaries(
    st.sampled_from(
        [
            "hook_event_name",
            "cwd",
            "status",
            "transcript_path",
            "stop_hook_active",
            "loop_count",
            "last_assistant_message",
            "prompt_response",
            "finalModelOutput",
            "workspacePaths",
        ]
    ),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.lists(st.text()),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(raw=st.binary(max_size=200) | fields.map(json.encode))
def test_whatever_is_on_the_input_the_agent_may_stop(workspace, monkeypatch, raw):
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        answer = in_process("hook", "stop")
    assert (answer.code, answer.out) == (0, "") and "bug" not in answer.err


@pytest.mark.soak
def test_nothing_that_it_says_is_a_recipe(repository):
    event = {**claimed("AUTH2", "AUTH3"), "cwd": str(repository)}
    for words in ((), ("--strict",), ("--dialect", "cursor"), ("--json",)):
        done = stop(repository, event, *words)
        reason = str([value for key, value in json.decode(done.stdout).items() if key != "results"])
        for recipe in (
            "DOS-CLAIM",
            "git ",
            "--allow-empty",
            "commit",
            "AUTH2:  ",
            "Unit:",
            "subject",
            "-m ",
        ):
            assert recipe not in reason + done.stderr.decode()


def test_it_writes_nothing_into_the_workspace(repository, state):
    def all_files():
        return {
            path: path.read_bytes()
            for path in repository.rglob("*")
            if path.is_file() and state not in path.parents
        }

    before = all_files()
    stop(repository, claimed("AUTH1", "AUTH2"))
    assert all_files() == before


def test_a_bug_of_ours_costs_no_agent_its_work(monkeypatch, capsys):
    from dos.cli import call, main

    def broken(*words):
        raise RuntimeError("a bug")

    monkeypatch.setattr(call, "call_verb", broken)
    assert main.run(["hook", "stop"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "bug in dos" in said.err
    assert main.run(["version"]) == 70
