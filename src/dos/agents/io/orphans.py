"""Processes that a program of ours left behind, found by the environment they inherited, however they detached.

On Linux a worker is also the heir of all that its programs start: so it finds those that cleared their environment.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dos.git.process import TIMEOUT_SECONDS
from dos.lease import KEY_VARIABLE, Lease
from dos.machine.process import dos_processes, holder_has_exited, identify, system

if TYPE_CHECKING:
    import psutil

WAIT_SECONDS = 5.0
_PR_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_WORKER_GIT_OPTION = "core.hooksPath=/dev/null"  # among the words of every git that we start
ROUNDS = 5  # one that is about to be ended may start another
_subreapers: set[int] = set()  # this process, once it is the heir of its programs


def mark_variables(workspace: str, lease: Lease, key: str = "") -> dict[str, str]:
    """What every program that we start carries, and hands on to all that it starts."""
    named = {"DOS_WORKSPACE": workspace, "DOS_LANE": lease.lane, "DOS_FENCE": str(lease.fence)}
    return named | ({KEY_VARIABLE: key} if key else {})


def become_subreaper() -> None:
    """From now on whatever our programs orphan becomes our child. For a process all of whose children may be ended."""
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
            _subreapers.add(os.getpid())


def end_processes(workspace: str, lease: Lease) -> int:
    """End whatever runs on this lane under this lease or an older one; how many there were."""
    import psutil

    ended = 0
    denied: set[psutil.Process] = set()  # another user's: only that user can end them
    for _ in range(ROUNDS):
        found = [each for each in _leftover_processes(workspace, lease) if each not in denied]
        for process in found:
            try:
                process.kill()  # which looks again whether the pid is still the same process
            except psutil.NoSuchProcess:
                pass  # it has ended by itself
            except psutil.AccessDenied:
                denied.add(process)
        killed = [each for each in found if each not in denied]
        psutil.wait_procs(killed, timeout=WAIT_SECONDS)
        ended += len(killed)
        if not found:
            break
    return ended


def end_previous_worker(state: Path, before: Sequence[Lease], mine: Lease) -> None:
    """End the worker whose lease ran out or was revoked: if it woke in the middle of a git command, it would clear the
    worktree that is its successor's now."""
    held = {
        (lease.pid, lease.pid_started)
        for lease in before
        if lease.fence != mine.fence and _may_be_alive(lease)
    }
    import psutil

    for found in dos_processes(state):
        was_here = found.option("--lane") == mine.lane and found.identity.pid != mine.pid
        if found.verb == "worker" and (
            was_here or (found.identity.pid, found.identity.started) in held
        ):
            try:
                process = psutil.Process(found.identity.pid)
                if identify(process.pid) != found.identity:
                    continue  # the pid is another's now
                process.kill()
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue  # it has ended by itself, or is another user's
            psutil.wait_procs([process], timeout=WAIT_SECONDS)


def wait_for_git(tree: Path, *, of_workers: bool = False) -> None:
    """Until no git works in a tree any more, or makes it: one that a dead worker began is let finish."""
    import psutil

    def is_at_it(process: "psutil.Process") -> bool:
        words, cwd = process.info["cmdline"] or [], process.info["cwd"]
        there = cwd == str(tree.resolve()) or ("worktree" in words and str(tree) in words)
        return there and (not of_workers or _WORKER_GIT_OPTION in words)

    begun = (
        process
        for process in psutil.process_iter(["name", "cwd", "cmdline"])
        if process.info["name"] == "git"
    )
    psutil.wait_procs([process for process in begun if is_at_it(process)], timeout=TIMEOUT_SECONDS)


def _may_be_alive(lease: Lease) -> bool:
    return lease.system == system() and lease.pid != os.getpid() and not holder_has_exited(lease)


def _leftover_processes(workspace: str, lease: Lease) -> "Iterator[psutil.Process]":
    import psutil

    inherited = (
        set(psutil.Process().children(recursive=True)) if os.getpid() in _subreapers else set()
    )
    yield from inherited
    yield from (
        each
        for each in psutil.process_iter()
        if each not in inherited and _is_leftover(each, workspace, lease)
    )


def _is_leftover(process: "psutil.Process", workspace: str, lease: Lease) -> bool:
    import psutil

    try:
        carried = process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False  # not ours, or gone
    if (
        process.pid == os.getpid()
        or carried.get("DOS_WORKSPACE") != workspace
        or carried.get("DOS_LANE") != lease.lane
    ):
        return False
    fence = carried.get("DOS_FENCE", "")
    return fence.isdigit() and int(fence) <= lease.fence
