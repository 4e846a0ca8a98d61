"""How long a test waits for what must happen: until it has, and for minutes on a machine that is
busy."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import psutil

PATIENCE = 600.0  # nobody waits as long but where something hangs


def wait_for(
    find: Callable[[], Any], what: str = "what is waited for", seconds: float = PATIENCE
) -> Any:
    """What is found, as soon as something is."""
    deadline = time.monotonic() + seconds
    while not (workspace := find()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not in {seconds:g} seconds: {what}")
        time.sleep(0.05)
    return workspace


def wait_until_ended(processes: Iterable[psutil.Process]) -> None:
    """Orphans are reaped by init, or never: a zombie holds nothing any more."""
    for process in processes:
        wait_for(lambda: not lives(process), f"process {process.pid} ends")  # noqa: B023 - called at once


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def has_ended(pid: int) -> bool:
    try:
        return not lives(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return True
