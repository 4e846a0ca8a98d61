"""The clocks of a store: one for lease times that cannot be set, and the wall clock for people."""

import sys
import time
from functools import cache
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """What a store needs to know about time. Tests and the simulator have clocks of their own."""

    def wall_ms(self) -> int:
        """Return the wall clock in milliseconds; events are dated by it."""
        ...

    def lease_ms(self) -> int:
        """Return the milliseconds since the machine started, including sleep.

        Leases follow it, because a change of the wall clock does not move it.
        """
        ...

    def boot(self) -> str:
        """Return an id of this start of this machine; times of two starts are not comparable."""
        ...


class SystemClock:
    """The clocks of the operating system."""

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def lease_ms(self) -> int:
        return time.clock_gettime_ns(_LEASE_CLOCK) // 1_000_000

    def boot(self) -> str:
        return _boot_id()


# Where CLOCK_BOOTTIME is missing (macOS), CLOCK_MONOTONIC counts sleep as well.
_LEASE_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@cache
def _boot_id() -> str:
    if sys.platform == "linux":
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    import subprocess

    done = subprocess.run(
        ["sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
