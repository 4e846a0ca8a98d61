"""The clocks a store may use. Leases follow a clock that no one can set; the wall clock is for people."""

import sys
import time
from functools import cache
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    def wall_ms(self) -> int: ...

    def lease_ms(self) -> int:
        """Milliseconds since the machine started, sleep included; a step of the wall clock does not move it."""
        ...

    def boot(self) -> str:
        """Which start of which machine this is: times of two starts cannot be compared."""
        ...


class SystemClock:
    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def lease_ms(self) -> int:
        return time.clock_gettime_ns(_LEASE_CLOCK) // 1_000_000

    def boot(self) -> str:
        return _boot()


# Where CLOCK_BOOTTIME is missing (macOS), CLOCK_MONOTONIC counts sleep as well.
_LEASE_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@cache
def _boot() -> str:
    if sys.platform == "linux":
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    import subprocess

    found = subprocess.run(
        ["sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()
