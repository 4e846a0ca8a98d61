"""One process of a repository at a time makes a worktree: git's own bookkeeping of them is not made for more."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dos.errors import GitFailed, GitUnanswered
from dos.sources.git import Git

BUSY_SECONDS = 120.0  # without a checkout it takes a few hundredths of one


def add(git: Git, state: Path, path: Path, commit: str) -> None:
    """Known to git, at a commit, on no branch, with no file in it yet: those are written with nobody waiting."""
    for folder in (path.parent, state):
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(state / "worktrees.gate"):
        # Twice: also where an entry of ours for this place was left, and locked. Others' entries are none of ours.
        words = ("worktree", "add", "--quiet", "--force", "--force", "--no-checkout", "--detach")
        try:
            git.run(*words, str(path), commit)
        except GitUnanswered:
            if not (path / ".git").exists():  # else it came far enough: whoever uses it checks it out anyway
                raise


@contextmanager
def _alone(gate: Path) -> Iterator[None]:
    """The kernel frees it when its holder dies."""
    import fcntl

    opened = os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        deadline = time.monotonic() + BUSY_SECONDS
        # Tried again and again instead of waited for: whoever was stopped inside must not hold up everybody for ever.
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise GitFailed(
                        f"another process has been making a worktree for {BUSY_SECONDS:g} s ({gate})",
                        hint="Look for a stopped `dos` process; `dos doctor` lists them.",
                    ) from None
                time.sleep(0.005)
        yield
    finally:
        os.close(opened)
