"""One process of a repository at a time makes a worktree, and nobody lists them meanwhile.

Git's own bookkeeping of them is not made for more: an entry that is half written makes `git worktree list` die.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dos import file_lock
from dos.errors import GitFailed, GitUnanswered
from dos.sources import workspace
from dos.sources.git import Writer

GATE = "worktrees.gate"  # in the state directory
BUSY_SECONDS = 120.0  # without a checkout it takes a few hundredths of one


def add(git: Writer, state: Path, path: Path, commit: str) -> None:
    """Known to git, at a commit, on no branch, with no file in it yet: those are written with nobody waiting."""
    for folder in (path.parent, state):
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(state / GATE):
        # Twice: also where an entry of ours for this place was left, and locked. Others' entries are none of ours.
        words = ("worktree", "add", "--quiet", "--force", "--force", "--no-checkout", "--detach")
        try:
            git.run(*words, str(path), commit)
        except GitUnanswered:
            if not (path / ".git").exists():  # else it came far enough: whoever uses it checks it out anyway
                raise


def listed(git: Writer) -> list[list[str]]:
    """The worktrees that git knows, each as the lines that it has for it; the first is `worktree PATH`."""
    with _among_readers(workspace.find(git.tree).state / GATE):
        said = git.run("worktree", "list", "--porcelain", "-z")
    return [entry.strip("\0").split("\0") for entry in said.split("\0\0") if entry.strip("\0")]


@contextmanager
def _alone(gate: Path) -> Iterator[None]:
    with _locked(os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644), gate):
        yield


@contextmanager
def _among_readers(gate: Path) -> Iterator[None]:
    """Beside other readers. Where there is no gate, no worktree was made yet."""
    try:
        opened = os.open(gate, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    with _locked(opened, gate, shared=True):
        yield


@contextmanager
def _locked(opened: int, gate: Path, *, shared: bool = False) -> Iterator[None]:
    try:
        if not file_lock.take(opened, gives_up=file_lock.after(BUSY_SECONDS), shared=shared):
            raise GitFailed(
                f"another process has been making a worktree for {BUSY_SECONDS:g} s ({gate})",
                hint="Look for a stopped `dos` process; `dos doctor` lists them.",
            )
        yield
    finally:
        os.close(opened)
