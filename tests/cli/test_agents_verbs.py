"""`dos agents` and `dos agents test` where no real program is at hand."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def dos(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "home").mkdir()

    def dos(*words):
        done = subprocess.run(
            [sys.executable, "-m", "dos", *words, "--json"],
            cwd=tmp_path / "home",
            env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
        )
        return done.returncode, json.loads(done.stdout or json.dumps(done.stderr))

    return dos


def program(tmp_path, name, script):
    path = tmp_path / "bin" / name
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{name} 0.166.3" && exit\n{script}\n')
    path.chmod(0o755)


def test_the_list_says_what_is_here_and_whether_it_was_tested(dos, tmp_path):
    program(tmp_path, "codex", "exit 1")
    code, data = dos("agents")
    rows = {row["name"]: row for row in data["agents"]}
    assert code == 0
    assert rows["codex"]["version"] == "0.166.3" and rows["codex"]["version_verdict"] == "tested"
    assert rows["codex"]["asked_by"] == "its app-server" and rows["codex"]["measured"] is None
    assert rows["claude_code"]["path"] is None and rows["claude_code"]["version"] is None
    assert rows["gemini"]["asked_by"] == "its hooks"
    assert rows["codex_acp"]["asked_by"] == rows["aider"]["asked_by"] == "not at all"


def test_the_list_says_what_the_tests_of_dos_measured(dos):
    rows = {row["name"]: row for row in dos("agents")[1]["agents"]}
    published = rows["claude_code"]["published"]
    assert published["version"] == "2.1.197"
    assert published["answers"]["asks"] == "yes: and tells the model the reason"
    assert rows["claude_code"]["measured"] is None


def test_a_program_that_only_fails_leaves_what_it_did_not_show_unknown(dos, tmp_path):
    program(tmp_path, "codex", "echo out of order; exit 1")
    code, data = dos("agents", "test", "codex")
    assert code == 1
    answers = {name: answer["verdict"] for name, answer in data["answers"].items()}
    assert "yes" not in {answers[name] for name in ("asks", "usage", "limit", "resumes")}
    assert answers["asks"] == "unknown" and "out of order" in data["answers"]["asks"]["detail"]
    assert not list((tmp_path / "home").iterdir()), "nothing is left behind"


def test_a_program_that_is_not_here_and_one_that_nobody_knows(dos):
    assert dos("agents", "test", "codex")[0] == 4
    code, data = dos("agents", "test", "codx")
    assert code == 2 and "codex" in json.dumps(data)
