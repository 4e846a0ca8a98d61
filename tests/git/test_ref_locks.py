"""The lock of a ref that a killed git left is removed; one that a git can hold is not."""

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from patience import wait_for

from dos.git.ref_locks import YOUNGEST_SECONDS, remove_stale_locks
from dos.git.repository import Writer

REF = "refs/dos/work/one"


@pytest.fixture
def git(repository) -> Writer:
    return Writer(repository.root)


def leave_lock(git: Writer, name: str, seconds_ago: float = 60) -> Path:
    lock = git.tree / ".git" / f"{name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    then = time.time() - seconds_ago
    os.utime(lock, (then, then))
    return lock


@pytest.mark.parametrize("name", [REF, "packed-refs"])
def test_a_ref_moves_again_after_the_git_that_moved_it_was_killed(git, name):
    commit = git.commit_of("HEAD")
    if name == REF:
        leave_lock(git, name)
        assert git.swap_ref(REF, commit, None) == ""
    else:
        assert git.swap_ref(REF, commit, None) == ""
        leave_lock(git, name)
        assert git.swap_ref(REF, None, commit) == ""


def test_a_branch_that_is_checked_out_moves_again(git):
    old = git.commit_of("HEAD")
    new = git.run("commit-tree", "-p", "HEAD", "-m", "Next", "HEAD^{tree}").strip()
    leave_lock(git, "HEAD")
    leave_lock(git, "refs/heads/main")
    assert git.swap_ref("refs/heads/main", new, old, message="dos: land") == ""


def test_a_new_lock_is_left_to_its_git(git):
    lock = leave_lock(git, REF, seconds_ago=0)
    assert git.swap_ref(REF, git.commit_of("HEAD"), None) != ""
    assert lock.exists()


@pytest.mark.parametrize("is_here", [True, False])
def test_a_lock_is_left_only_while_a_git_of_the_repository_runs_that_is_older(
    git, is_here, tmp_path
):
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", other], check=True)
    folder = git.tree if is_here else other
    waiting = subprocess.Popen(["git", "cat-file", "--batch"], cwd=folder, stdin=subprocess.PIPE)
    try:
        wait_for(lambda: psutil.Process(waiting.pid).name() == "git")
        lock = leave_lock(git, REF, seconds_ago=0)
        time.sleep(YOUNGEST_SECONDS + 0.1)
        removed = remove_stale_locks(git.tree / ".git", REF)
    finally:
        waiting.communicate()
    assert lock.exists() == is_here
    assert removed == ([] if is_here else [lock])
