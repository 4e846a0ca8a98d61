"""Processes that a program of ours left behind, found by the environment they inherited, however they detached."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dos.evidence import holders
from dos.records.leases import Lease
from dos.sources import git, own_processes, processes

if TYPE_CHECKING:
    import psutil

WAIT_SECONDS = 5.0


def marks(workspace: str, lease: Lease) -> dict[str, str]:
    """What every program that we start carries, and hands on to all that it starts."""
    return {"DOS_WORKSPACE": workspace, "DOS_LANE": lease.lane, "DOS_FENCE": str(lease.fence)}


def end(workspace: str, lease: Lease) -> int:
    """End whatever runs on this lane under this lease or an older one; how many there were."""
    import psutil

    found = [process for process in psutil.process_iter() if _is_left(process, workspace, lease)]
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass  # it has ended by itself
    psutil.wait_procs(found, timeout=WAIT_SECONDS)
    return len(found)


def end_worker(state: Path, before: Sequence[Lease], mine: Lease) -> None:
    """End the worker whose lease ran out and was taken over: if it woke in the middle of a git command, it would clear
    the worktree that is its successor's now."""
    held = {(lease.pid, lease.pid_started) for lease in before if lease.fence != mine.fence and _may_live(lease)}
    if not held:
        return
    import psutil

    for found in own_processes.running(state):
        if found.verb == "worker" and (found.identity.pid, found.identity.started) in held:
            try:
                process = psutil.Process(found.identity.pid)
                process.kill()
            except psutil.NoSuchProcess:
                continue  # it has ended by itself
            psutil.wait_procs([process], timeout=WAIT_SECONDS)


def wait_for_git(tree: Path) -> None:
    """Until no git works in a tree any more: one that a dead worker began is let finish."""
    import psutil

    begun = [process for process in psutil.process_iter(["name", "cwd"]) if process.info["name"] == "git"]
    psutil.wait_procs([each for each in begun if Path(each.info["cwd"] or "/") == tree], timeout=git.TIMEOUT_SECONDS)


def _may_live(lease: Lease) -> bool:
    return lease.host == processes.host() and lease.pid != os.getpid() and not holders.gone(lease)


def _is_left(process: "psutil.Process", workspace: str, lease: Lease) -> bool:
    import psutil

    try:
        carried = process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False  # not ours, or gone
    if process.pid == os.getpid() or carried.get("DOS_WORKSPACE") != workspace or carried.get("DOS_LANE") != lease.lane:
        return False
    fence = carried.get("DOS_FENCE", "")
    return fence.isdigit() and int(fence) <= lease.fence
