"""`dos demo`: what a person sees first, after a plain installation."""

import os
from pathlib import Path

import pytest
from commanding import git, in_its_own_process, in_process

from dos.testing.demo import Demonstration, Result, build


def test_a_folder_that_holds_something_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "mine.txt").write_text("mine\n")
    answer = in_process("demo", "--keep", str(tmp_path))
    assert answer.code == 2
    assert "is not an empty folder" in answer.err
    assert os.listdir(tmp_path) == ["mine.txt"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "dos.toml", "dos.toml/demo"])
def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dos.toml").touch()
    answer = in_process("demo", "--keep", name)
    assert answer.code == 2
    assert answer.err.startswith("error: ") and "hint: " in answer.err
    assert os.listdir(tmp_path) == ["dos.toml"]


def test_without_git_it_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = in_process("demo", "--keep", str(tmp_path / "demo"))
    assert answer.code == 2
    assert "git is not installed" in answer.err
    assert not (tmp_path / "demo").exists()


def test_a_workspace_or_repository_that_the_environment_names_is_not_touched(tmp_path, monkeypatch):
    """The demonstration kills a worker and a supervisor: they have to be its own."""
    for name in ("DISPATCH_WORKSPACE", "GIT_DIR", "GIT_WORK_TREE", "DOS_RECEIPT_KEY"):
        monkeypatch.setenv(name, str(tmp_path / "mine"))
    shown = Demonstration(tmp_path / "demo", tell=print)._environment()
    assert str(tmp_path / "mine") not in shown.values()
    assert (build(tmp_path / "demo") / ".git").is_dir()
    assert not (tmp_path / "mine").exists()


def test_a_kept_repository_is_named_with_the_key_that_its_receipts_need(tmp_path, monkeypatch):
    result = Result(landed=8, units=8, seconds=1.0, report="", exit_code=0)
    monkeypatch.setattr(Demonstration, "play", lambda _: result)
    answer = in_process("demo", "--keep", str(tmp_path / "a demo"))
    assert f"The repository is in {tmp_path}/a demo/greeter." in answer.out
    assert f"export DOS_RECEIPT_KEY='{tmp_path}/a demo/receipt-key'" in answer.out
    key = Demonstration(tmp_path / "a demo", tell=print)._environment()["DOS_RECEIPT_KEY"]
    assert key == f"{tmp_path}/a demo/receipt-key"


@pytest.mark.soak
def test_every_unit_lands_although_agents_lie_and_processes_are_killed(tmp_path):
    kept = tmp_path / "demo"
    answer = in_its_own_process("demo", "--json", "--keep", str(kept), cwd=tmp_path)
    assert answer.code == 0, answer.err
    result = answer.json
    assert (result["landed"], result["units"]) == (8, 8)
    assert result["kept"] == str(kept)
    subjects = git("log", "--format=%s", "main", cwd=kept / "greeter").splitlines()
    assert len(subjects) == 9, "each unit landed once, on top of the first commit"
    report = Path(result["report"])
    page = report.read_text()
    report.unlink()
    for unit in ("API1", "API2", "API3", "DOC1", "DOC2", "DOC3", "WEB1", "WEB2"):
        assert f"GREET/{unit}" in page
