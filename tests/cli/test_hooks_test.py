"""`dos hooks test` with programs that do not obey: it says so, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import wait_for

WRITES_ALL = "mkdir -p own held; touch own/written.md own/redirected.md held/written.md"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "home").mkdir()
    repository = tmp_path / "repository"
    repository.mkdir()
    subprocess.run(["git", "init", "--quiet", "."], cwd=repository, check=True)
    (repository / "dos.toml").write_text("")
    return tmp_path


def program(place: Path, name: str, script: str) -> None:
    path = place / "bin" / name
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\n{script}\n')
    path.chmod(0o755)


def environment(place: Path) -> dict[str, str]:
    return {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "HOME": str(place / "home")}


def dos(place: Path, *words: str) -> tuple[int, dict]:
    done = subprocess.run(
        [sys.executable, "-m", "dos", *words, "--json"],
        cwd=place / "repository",
        env=environment(place),
        capture_output=True,
        text=True,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_program_that_ignores_the_hooks_is_called_inert_and_doctor_remembers_it(place):
    program(place, "claude", WRITES_ALL)
    code, data = dos(place, "hooks", "test", "claude-code")
    assert (code, data["hosts"]["claude-code"]["result"]) == (1, "INERT")
    assert data["hosts"]["claude-code"]["version"] == "9.9.9"
    assert not list((place / "home").iterdir()), "nothing is left in the user's home"
    assert not (place / "repository" / "held").exists()
    dos(place, "hooks", "install", "claude-code")
    _, report = dos(place, "doctor")
    tested = report["runtime_hooks"]["claude-code"]["tested"]
    assert (tested["result"], tested["version"]) == ("INERT", "9.9.9")
    assert "HOOKS_INERT" in [finding["kind"] for finding in report["findings"]]
    assert report["runtime_hooks"]["codex"]["tested"] is None


def test_a_program_that_does_nothing_proves_nothing(place):
    program(place, "claude", "echo no credit; exit 7")
    code, data = dos(place, "hooks", "test", "claude-code")
    row = data["hosts"]["claude-code"]
    assert (code, row["result"]) == (3, "FAILED")
    assert "exited 7 after 0 of 4" in row["reason"] and "no credit" in row["reason"]


def test_a_program_that_is_missing_and_one_that_cannot_be_had(place):
    assert dos(place, "hooks", "test", "codex")[0] == 4
    code, data = dos(place, "hooks", "test", "all")
    assert code == 4
    results = {name: row["result"] for name, row in data["hosts"].items()}
    assert results.pop("cursor") == results.pop("antigravity") == "NOT_TRIED"
    assert set(results.values()) == {"NOT_FOUND"}


def test_what_a_killed_test_left_is_removed_by_the_next_one(place):
    program(place, "claude", "sleep 600")
    test = subprocess.Popen(
        [sys.executable, "-m", "dos", "hooks", "test", "claude-code"],
        cwd=place / "repository",
        env=environment(place),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    cache = place / "home" / ".cache" / "dos"
    wait_for(lambda: list(cache.glob("*/repository/.claude/settings.json")), "the trial runs")
    os.kill(test.pid, signal.SIGKILL)
    test.wait()
    assert list(cache.iterdir())
    program(place, "claude", "exit 0")
    assert dos(place, "hooks", "test", "claude-code")[0] == 3
    assert not cache.exists()
