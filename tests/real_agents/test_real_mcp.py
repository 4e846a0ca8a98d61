"""The real programs call the tools of `dos mcp` in their first turn, as `dos init --mcp` wires
them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commanding import command
from installing import Unavailable, path_of
from msgspec import json
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program
from sample_repository import Repository

from dos.testing.scripted_model import ScriptedModel

SECONDS = 240
PROMPT = "Is DEMO/A1 done? Ask dos."
SCRIPT = [
    {"tool": "verify", "server": "dos", "with": {"plan": "DEMO", "phase": "A1"}},
    {"tool": "wait", "server": "dos", "with": {"seconds": 0.2, "until": "landed"}},
    {"say": "DEMO/A1 is done."},
]
WORDS: dict[str, tuple[str, ...]] = {
    "claude_code": (
        "-p", PROMPT, "--mcp-config", ".mcp.json", "--strict-mcp-config",
        "--allowedTools", "mcp__dos__verify,mcp__dos__wait",
    ),
    "codex": ("exec", "--dangerously-bypass-approvals-and-sandbox", PROMPT),
    "opencode": ("run", PROMPT),
    "gemini": ("-p", PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"),
}  # fmt: skip
HOSTS = {"claude_code": "claude-code"}  # by which `dos init` knows it, where that differs


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """DEMO/A1 has landed, and DEMO/A2 has not."""
    repository = Repository(tmp_path)
    (repository.root / "one" / "a.txt").write_text("a\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Write a", "-m", "Unit: DEMO/A1")
    return repository


def run(program: Program, repository: Repository, model: ScriptedModel) -> str:
    """Let the program answer the prompt in the repository; return what it printed."""
    home = repository.home / "home"
    files = program.files(model.url)
    if program is CODEX:
        files[".codex/config.toml"] += (
            f'\n[projects."{repository.root}"]\ntrust_level = "trusted"\n'
        )
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **program.settings(model.url)["environment"],
    }
    home.mkdir(exist_ok=True)
    steps = [[path_of(program), *WORDS[program.name]]]
    if program.first:
        steps.insert(0, [path_of(program), *program.first])
    for words in steps:
        done = subprocess.run(
            words, cwd=repository.root, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "program", [CLAUDE_CODE, CODEX, OPENCODE, GEMINI], ids=lambda each: each.name
)
def test_a_program_calls_the_tools_in_its_first_turn(program, repository):
    try:
        path_of(program)
    except Unavailable as error:
        pytest.skip(str(error))
    host = HOSTS.get(program.name, program.name)
    wired = subprocess.run(
        command("init", "--mcp", host), cwd=repository.root, capture_output=True, text=True
    )
    assert wired.returncode == 0, wired.stderr
    with ScriptedModel(SCRIPT, log=repository.home / "requests.jsonl") as model:
        printed = run(program, repository, model)
        told = [text.replace('\\"', '"') for text in model.told()]  # Gemini CLI quotes them again
        names = [name for request in model.requests for name in request["tools"]]
    answers = [text[-600:] for text in told]
    assert any('"verdict":"SHIPPED"' in text for text in told), (printed, answers)
    assert any('"verdict":"TIMEOUT"' in text for text in told), (printed, answers)
    assert not any("still connecting" in text or "No such tool" in text for text in told), told
    assert any(name.endswith("verify") for name in names)
    assert not any("dos_verify" in name.removeprefix("mcp_") for name in names if "__" in name)


def answer_time(words: list[str], cwd: Path) -> float:
    """CPU seconds from the start of a server to its list of tools and its end."""
    import resource

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    lines = b"".join(json.encode(message) + b"\n" for message in BEGIN)
    done = subprocess.run(words, input=lines, cwd=cwd, capture_output=True, timeout=60)
    assert done.returncode == 0
    if len(words) > 3 and words[3] == "mcp":
        assert len(done.stdout.splitlines()) == 2
    return spent() - before


BEGIN: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
]
MOST_SECONDS = 0.1  # of CPU, beside those of Python itself


def test_the_server_is_there_at_once(tmp_path):
    """Programs tell their model of the tools that are there, and do not wait for long."""
    measure: Callable[[list[str]], float] = lambda words: min(  # noqa: E731
        answer_time(words, tmp_path) for _ in range(8)
    )
    ours = measure(command("mcp"))
    python = measure([sys.executable, "-c", "pass"])
    assert ours - python < MOST_SECONDS, f"{ours:.3f} s, and Python {python:.3f} s"
