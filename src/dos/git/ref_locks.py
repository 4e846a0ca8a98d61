"""Locks of refs that a git left which was killed: git never removes them.

Such a ref could not be moved any more until somebody removes the file.
"""

import time
from pathlib import Path

from dos import workspace
from dos.errors import WorkspaceMissing

YOUNGEST_SECONDS = 5.0  # git holds a lock for milliseconds, and waits as long for that of another
_CLOCK_SECONDS = 2.0  # how far the times of files and processes may be apart


def remove_stale_locks(common: Path, ref: str) -> list[Path]:
    """Remove the locks that keep a ref from moving and that no process can hold; return them.

    `common` is git's common directory. A git that holds a lock was started before it made it: a
    lock is stale where no git of this repository runs that is as old. One that was just made is
    left.
    """
    removed = []
    # HEAD is locked with the branch that it names, and packed-refs when a ref is removed.
    for name in (ref, "HEAD", "packed-refs"):
        lock = common / f"{name}.lock"
        try:
            made = lock.stat().st_mtime
            if time.time() - made > YOUNGEST_SECONDS and not _may_be_held(common, made):
                lock.unlink()
                removed.append(lock)
        except OSError:
            continue  # there is none, or its git has just removed it
    return removed


def _may_be_held(common: Path, made: float) -> bool:
    """Whether a git process runs that may have made a lock at a time, by the wall clock."""
    import psutil

    for process in psutil.process_iter(["name", "create_time"]):
        name = process.info["name"] or ""
        started = process.info["create_time"] or 0.0
        if not name.startswith("git") or started > made + _CLOCK_SECONDS:
            continue
        try:
            words = " ".join([*process.cmdline(), *process.environ()])
            is_elsewhere = "GIT_DIR" not in words and "--git-dir" not in words
            if not is_elsewhere or workspace.find(Path(process.cwd())).common == common:
                return True
        except (psutil.NoSuchProcess, WorkspaceMissing):
            continue  # it has just ended, or its folder is gone
        except (psutil.AccessDenied, OSError):
            return True  # another user's
    return False
