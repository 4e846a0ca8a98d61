"""The scope gate where people put it: in a hook, with odd names, with empty variables."""

import os
import shutil
import subprocess
import sys

import pytest
from commanding import git


def test_a_hook_sees_what_commit_all_is_about_to_commit(workspace):
    hook = workspace / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m dos scope-gate --lane api --staged\n")
    hook.chmod(0o755)
    (workspace / "docs" / "a.txt").write_text("stray\n")
    words = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "stray"]
    done = subprocess.run(
        words, cwd=workspace, capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode != 0
    assert "docs/a.txt" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["api\\\\x", " ", "\u2028"], ids=["backslash", "blank", "separator"]
)
def test_a_name_that_only_looks_as_if_it_were_inside_is_outside(dos, workspace, name):
    (workspace / name).write_text("x")
    git("add", "--all", cwd=workspace)
    assert dos("scope-gate", "--lane", "api", "--staged").code == 6


@pytest.mark.parametrize(
    "words", [("--file", ""), ("--file", " ", "--staged"), ("--file", "api/a.txt", "--file", "")]
)
def test_an_empty_file_name_is_an_error_and_not_a_pass(dos, words):
    assert dos("scope-gate", "--lane", "api", *words).code == 2


@pytest.mark.parametrize("flag", ["--workspace", "--output"])
def test_an_empty_global_flag_is_an_error(dos, flag):
    answer = dos(flag, "", "lease-lane", "live")
    assert answer.code == 2 and "is empty" in answer.err
    assert dos("lease-lane", "live", f"{flag}=").code == 2


@pytest.mark.parametrize("kind", ["directory", "dangling", "fifo"])
def test_init_leaves_alone_what_is_not_a_file(dos, workspace, kind):
    target = workspace / "dos.toml"
    target.unlink()
    if kind == "directory":
        target.mkdir()
    elif kind == "dangling":
        target.symlink_to("nowhere")
    else:
        os.mkfifo(target)
    assert dos("init", "--force").code == 2


def test_init_before_the_first_commit_makes_lanes_of_what_git_would_track(dos, tmp_path):
    root = tmp_path / "young"
    for name in ("src/shop/__init__.py", "tests/test_shop.py", "made/x.py"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("made\n")
    git("init", "-q", cwd=root)
    assert dos("init", str(root)).code == 0
    (tmp_path / "empty").mkdir()
    assert dos("init", str(tmp_path / "empty")).code == 0
    assert 'autopick = ["main"]' in (tmp_path / "empty" / "dos.toml").read_text(), (
        "else a unit has to name its lane"
    )
    assert 'shop = ["src/**", "tests/**", ".gitignore"]' in (root / "dos.toml").read_text()


def test_init_says_in_words_what_it_cannot_write(dos, workspace):
    (workspace / "dos.toml").unlink()
    shutil.rmtree(workspace / "docs")
    (workspace / "docs").write_text("a file in its place")
    answer = dos("init", "--first-plan")
    assert (
        answer.code == 2
        and "docs" in answer.err
        and "hint: " in answer.err
        and "Errno" not in answer.err
    )
    assert not (workspace / "dos.toml").exists()


def test_the_undo_of_init_can_be_typed_where_a_name_has_blanks(dos, tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    answer = dos("init", str(folder))
    undo = next(line for line in answer.out.splitlines() if line.startswith("undo: ")).removeprefix(
        "undo: "
    )
    subprocess.run(undo, shell=True, check=True)
    assert list(folder.iterdir()) == []


def test_init_by_force_keeps_what_was_there(dos, workspace):
    before = (workspace / "dos.toml").read_text()
    answer = dos("init", "--force")
    assert answer.code == 0 and "undo: mv" in answer.out
    assert (workspace / "dos.toml.before").read_text() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [(("lease-lane", "acquire", "--lane", "nosuch", "--owner", "me"), 2), (("down",), 0)],
    ids=["a wrong name", "nothing to stop"],
)
def test_what_changes_nothing_makes_no_journal(dos, state, words, code):
    assert dos(*words).code == code
    assert not state.exists()
