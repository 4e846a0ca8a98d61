"""Real agent programs with hook settings of dos-kernel: a tool call goes through, and the hook was
asked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from installing import Unavailable, path_of
from model_server import ModelServer
from programs import CLAUDE_CODE, CODEX, GEMINI, Program

SETTINGS = Path(__file__).parents[1] / "fixtures" / "released_settings"
RUN_SECONDS = 300
PROMPT = "Do the work."
pytestmark = pytest.mark.timeout(900)


class Host(NamedTuple):
    program: Program
    settings: str  # of tests/fixtures/released_settings
    home_file: str  # where this program reads them; in the home they need no trust
    words: Callable[[Program], list[str]]


HOSTS = [
    pytest.param(
        Host(
            CLAUDE_CODE,
            "claude_settings.json",
            ".claude/settings.json",
            lambda program: [
                "-p",
                PROMPT,
                "--allowedTools",
                "Bash",
                "--permission-mode",
                "acceptEdits",
            ],
        ),
        marks=pytest.mark.soak,
    ),
    pytest.param(
        Host(
            CODEX,
            "codex_config.toml",
            ".codex/config.toml",
            lambda program: [
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust",
                PROMPT,
            ],
        ),
        marks=pytest.mark.soak,
    ),
    pytest.param(
        Host(
            GEMINI,
            "gemini_settings.json",
            ".gemini/settings.json",
            lambda program: ["-p", PROMPT, "--yolo", "--model", "gemini-2.5-flash"],
        ),
        marks=pytest.mark.programs,
    ),
]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.program.name)
def test_a_tool_call_goes_through_with_the_released_settings_in_place(tmp_path, host):
    try:
        path = path_of(host.program)
    except Unavailable as error:
        pytest.skip(str(error))
    repository, home, asked = tmp_path / "repository", tmp_path / "home", tmp_path / "asked"
    repository.mkdir()
    subprocess.run(["git", "init", "--quiet", "."], cwd=repository, check=True)
    model = ModelServer(tmp_path / "model", [{"bash": "echo hello > made.txt"}, {"say": "Done."}])
    try:
        _settle(home, host, model.url)
        environment = {
            "PATH": os.pathsep.join(
                [str(_dos_that_tells(tmp_path / "bin", asked)), os.environ["PATH"]]
            ),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            **host.program.settings(model.url)["environment"],
        }
        done = subprocess.run(
            [path, *host.words(host.program)], cwd=repository, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS,
        )  # fmt: skip
    finally:
        model.stop()
    assert (repository / "made.txt").is_file(), (done.stdout, done.stderr)
    calls = asked.read_text().splitlines()
    assert any(line.startswith("hook pretool ") for line in calls), calls
    assert all(line.endswith(" -> 0") for line in calls), calls


def _settle(home: Path, host: Host, url: str) -> None:
    """The program's own settings that lead to the scripted model, and the released ones."""
    own = host.program.files(url).get(host.home_file, "")
    released = (SETTINGS / host.settings).read_text()
    if host.home_file.endswith(".json"):
        text = json.dumps({**json.loads(own or "{}"), **json.loads(released)})
    else:
        text = f"{own}\n{released}"
    path = home / host.home_file
    path.parent.mkdir(parents=True)
    path.write_text(text)


def _dos_that_tells(folder: Path, asked: Path) -> Path:
    """A `dos` on the path that is ours, and writes down what it was asked and how it exited."""
    folder.mkdir()
    script = folder / "dos"
    script.write_text(
        f'#!/bin/sh\n{sys.executable} -m dos "$@"\ncode=$?\necho "$* -> $code" >> {asked}\n'
        f"exit $code\n"
    )
    script.chmod(0o755)
    return folder
