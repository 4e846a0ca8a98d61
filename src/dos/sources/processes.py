"""Processes of this machine. A pid is an identity only together with its start time."""

import os

from msgspec import Struct


class Identity(Struct, frozen=True):
    pid: int
    started: float


def host() -> str:
    return os.environ.get("DISPATCH_HOST_ID") or os.uname().nodename


def identify(pid: int) -> Identity | None:
    """The process that has this pid now; None when there is none."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Identity(pid, process.create_time())
    except psutil.NoSuchProcess:
        return None


def is_gone(pid: int, started: float) -> bool:
    """True only when the system says that this very process does not run any more."""
    now = identify(pid)
    # Start times come from the same clock ticks, so a tenth of a second is far more than their rounding.
    return now is None or abs(now.started - started) > 0.1
