"""Processes that a program of ours left behind, found by the environment they inherited, however they detached."""

import os
from typing import TYPE_CHECKING

from dos.records.leases import Lease

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
