"""The commit gate goes into git's hooks, leaves those of the user working, and comes out without a
trace."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from commanding import git, in_process

PRE_COMMIT = """#!/bin/sh
# a hook of mine
{ echo "pre-commit $# $0"; cat; } >> "$GIT_DIR/seen"
"""
TRANSACTION = """#!/bin/sh
{ echo "reference-transaction $@"; cat; } >> "$(git rev-parse --git-common-dir)/seen"
"""


@pytest.fixture
def hooks(workspace: Path) -> Path:
    return workspace / ".git" / "hooks"


def put(path: Path, text: str, mode: int = 0o755) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    path.chmod(mode)


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (stat.S_IMODE(path.lstat().st_mode), path.read_bytes())
        for path in folder.iterdir()
        if path.is_file()
    }


def test_nothing_is_there_then_it_is_and_then_it_is_gone(dos, hooks):
    before = everything(hooks)
    assert dos("hooks", "git", "status").code == 1
    done = dos("hooks", "git", "install")
    assert done.code == 0 and str(hooks) in done.out
    assert sorted(set(everything(hooks)) - set(before)) == ["pre-commit", "reference-transaction"]
    assert dos("hooks", "git", "status").code == 0
    assert dos("hooks", "git", "remove").code == 0
    assert everything(hooks) == before
    assert dos("hooks", "git", "remove").code == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (PRE_COMMIT, 0o755),
        (PRE_COMMIT, 0o644),
        ("", 0o700),
        ("no line end", 0o644),
        ("#!/usr/bin/env python3\nimport sys\n\r\n", 0o700),
    ],
)
def test_what_was_there_is_given_back_byte_for_byte_however_often_it_was_installed(
    dos, hooks, text, mode
):
    put(hooks / "pre-commit", text, mode)
    before, inode = everything(hooks), (hooks / "pre-commit").stat().st_ino
    for _ in range(2):
        assert dos("hooks", "git", "install").code == 0
        once = everything(hooks)
        assert dos("hooks", "git", "install").code == 0
        assert everything(hooks) == once
        assert dos("hooks", "git", "remove").code == 0
        assert everything(hooks) == before
    assert (hooks / "pre-commit").stat().st_ino == inode


@pytest.mark.parametrize("action", ["install", "remove"])
def test_a_dry_run_changes_nothing_and_says_what_would_be(dos, hooks, action):
    put(hooks / "pre-commit", PRE_COMMIT)
    if action == "remove":
        dos("hooks", "git", "install")
    before = everything(hooks)
    done = dos("hooks", "git", action, "--dry-run", "--json")
    assert done.code == 0 and done.json["dry_run"] is True
    assert "would" in dos("hooks", "git", action, "--dry-run").out
    assert everything(hooks) == before


def test_hooks_of_the_user_get_what_git_gives_them(dos, workspace, hooks):
    put(hooks / "pre-commit", PRE_COMMIT)
    put(hooks / "reference-transaction", TRANSACTION)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=workspace)
    path = workspace / ".git" / "seen"
    head, without = git("rev-parse", "HEAD", "HEAD~", cwd=workspace).split(), path.read_text()
    path.unlink()
    assert dos("hooks", "git", "install").code == 0
    git("commit", "-q", "--allow-empty", "-m", "y", cwd=workspace)
    after = git("rev-parse", "HEAD", "HEAD~", cwd=workspace).split()
    expected = without.replace("hooks/pre-commit", "hooks/pre-commit.before-dos")
    for old, new in zip(head, ("NEW", "OLD"), strict=True):
        expected = expected.replace(old, new)
    text = path.read_text()
    for old, new in zip(after, ("NEW", "OLD"), strict=True):
        text = text.replace(old, new)
    assert text == expected and "refs/heads/main" in text


def test_a_hook_of_the_user_that_says_no_is_obeyed(dos, workspace, hooks):
    put(hooks / "pre-commit", "#!/bin/sh\necho no, for I say so >&2\nexit 3\n")
    assert dos("hooks", "git", "install").code == 0
    with pytest.raises(subprocess.CalledProcessError) as refused:
        git("commit", "-q", "--allow-empty", "-m", "x", cwd=workspace)
    assert "no, for I say so" in refused.value.stderr


def test_a_hook_that_git_would_not_run_is_not_run(dos, workspace, hooks):
    put(hooks / "pre-commit", "#!/bin/sh\nexit 3\n", 0o644)
    assert dos("hooks", "git", "install").code == 0
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=workspace)


def test_a_linked_worktree_has_the_same_hooks_and_says_so(dos, workspace, hooks, tmp_path):
    git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), cwd=workspace)
    done = dos("hooks", "git", "install", "--json", "--workspace", str(tmp_path / "linked"))
    assert done.code == 0 and done.json["directory"] == str(hooks)


def test_a_configured_folder_is_used_and_named(dos, workspace, hooks, tmp_path):
    elsewhere = tmp_path / "my hooks"
    git("config", "core.hooksPath", str(elsewhere), cwd=workspace)
    done = dos("hooks", "git", "install")
    assert done.code == 0 and str(elsewhere) in done.out and "core.hooksPath" in done.out
    assert sorted(everything(elsewhere)) == ["pre-commit", "reference-transaction"]
    assert not (hooks / "pre-commit").exists()
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=workspace)


@pytest.mark.parametrize(
    ("folder", "said"),
    [(".githooks", "relative to each work tree"), ("/dev/null", "hooks are disabled")],
)
def test_a_configured_folder_that_cannot_guard_worktrees_is_refused(dos, workspace, folder, said):
    git("config", "core.hooksPath", folder, cwd=workspace)
    done = dos("hooks", "git", "install")
    assert done.code == 2 and said in done.err and "hint" in done.err
    assert not (workspace / ".githooks").exists()


def test_outside_of_git_there_is_nothing_to_guard(dos, tmp_path):
    (tmp_path / "bare").mkdir()
    done = dos("hooks", "git", "install", "--workspace", str(tmp_path / "bare"))
    assert done.code == 2 and "not in a git repository" in done.err


def links(path: Path) -> None:
    path.symlink_to("/usr/bin/true")


def leads_nowhere(path: Path) -> None:
    path.symlink_to("gone")


def is_a_folder(path: Path) -> None:
    path.mkdir()


def is_binary(path: Path) -> None:
    path.write_bytes(b"\x7fELF\0\0")


@pytest.mark.parametrize("name", ["pre-commit", "reference-transaction"])
@pytest.mark.parametrize("make", [links, leads_nowhere, is_a_folder, is_binary])
@pytest.mark.parametrize("words", [[], ["--dry-run"]], ids=["really", "dry"])
def test_a_hook_that_cannot_be_kept_stops_the_installation_before_it_begins(
    dos, hooks, make, name, words
):
    hooks.mkdir(exist_ok=True)
    make(hooks / name)
    before = sorted(path.name for path in hooks.iterdir())
    done = dos("hooks", "git", "install", *words)
    assert done.code == 2 and str(hooks / name) in done.err and "hint" in done.err
    assert sorted(path.name for path in hooks.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(dos, hooks):
    hooks.chmod(0o555)
    done = dos("hooks", "git", "install")
    hooks.chmod(0o755)
    assert done.code == 2 and str(hooks) in done.err


def test_a_folder_that_cannot_be_made_is_named(dos, workspace):
    (workspace / "file").touch()
    git("config", "core.hooksPath", str(workspace / "file" / "hooks"), cwd=workspace)
    done = dos("hooks", "git", "install")
    assert done.code == 2 and str(workspace / "file" / "hooks") in done.err


def test_a_hook_that_another_program_wrote_over_ours_is_left_to_people(dos, hooks):
    put(hooks / "pre-commit", PRE_COMMIT)
    dos("hooks", "git", "install")
    put(hooks / "pre-commit", "#!/bin/sh\n# of another program\n")
    before = everything(hooks)
    assert dos("hooks", "git", "status").code == 1
    done = dos("hooks", "git", "install")
    assert done.code == 2 and "was replaced" in done.err
    assert everything(hooks) == before
    removed = dos("hooks", "git", "remove")
    assert removed.code == 1 and "pre-commit.before-dos" in removed.out
    left = everything(hooks)
    assert (
        left["pre-commit"] == before["pre-commit"]
        and left["pre-commit.before-dos"] == before["pre-commit.before-dos"]
    )


def test_an_installation_that_was_broken_off_is_finished_or_taken_back(dos, hooks):
    put(hooks / "pre-commit", PRE_COMMIT)
    before = everything(hooks)
    (hooks / "pre-commit").rename(hooks / "pre-commit.before-dos")
    assert dos("hooks", "git", "remove").code == 0
    assert everything(hooks) == before
    os.link(hooks / "pre-commit", hooks / "pre-commit.before-dos")
    assert dos("hooks", "git", "install").code == 0
    assert dos("hooks", "git", "status").code == 0
    assert dos("hooks", "git", "remove").code == 0
    assert everything(hooks) == before
    os.link(hooks / "pre-commit", hooks / "pre-commit.before-dos")
    (hooks / "pre-commit.dos-new").write_text("half")
    assert dos("hooks", "git", "remove").code == 0
    assert everything(hooks) == before


def test_a_gate_of_another_python_is_written_anew(dos, hooks):
    dos("hooks", "git", "install")
    good = (hooks / "pre-commit").read_bytes()
    (hooks / "pre-commit").write_bytes(good.replace(b"-m dos", b"-m older"))
    assert dos("hooks", "git", "status").code == 1
    assert dos("hooks", "git", "install").code == 0
    assert (hooks / "pre-commit").read_bytes() == good


@pytest.mark.parametrize(
    "words", [["fly"], ["install", "more"], ["check"], ["check", "post-commit"], []]
)
def test_words_that_mean_nothing_are_said_so(dos, hooks, words):
    done = dos("hooks", "git", *words)
    assert done.code == 2 and "hint" in done.err
    assert not (hooks / "pre-commit").exists()


def test_a_commit_of_a_person_asks_no_python(workspace, hooks, monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    from dos.hooks import install

    for name in install.HOOKS:
        put(hooks / name, install.hook_text(name).decode())
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=workspace)
    assert in_process("hooks", "git", "status").code == 0
