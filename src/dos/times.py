"""Points in time as people and JSON read them, the clocks of a store, and delays after failures.

All times that people read are made by `format_local_time` and `format_duration`; stamps for JSON
and for files by `utc_stamp`.
"""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from dos.errors import BadInput

YEAR_10000_MS = 253_402_300_800_000  # the first millisecond that no stamp can name


def utc_datetime(at_ms: int) -> datetime:
    """Return the moment in UTC.

    One outside of the years 1970 to 9999 becomes the nearest inside.
    """
    return datetime.fromtimestamp(_nameable_ms(at_ms) / 1000, UTC)


def utc_stamp(at_ms: int) -> str:
    """Return the moment in UTC to the second, as RFC 3339 and the logs of dos-kernel have it."""
    moment = datetime.fromtimestamp(_nameable_ms(at_ms) // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _nameable_ms(at_ms: int) -> int:
    return min(max(at_ms, 0), YEAR_10000_MS - 1)


def now_stamp() -> str:
    """Return the current time as a stamp."""
    return utc_stamp(int(datetime.now(UTC).timestamp() * 1000))


def seconds_between(started: str, ended: str) -> float:
    """Return the seconds between two stamps of `now_stamp`; 0 where one cannot be read."""
    try:
        taken = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
    except ValueError:
        return 0.0
    return max(0.0, taken.total_seconds())


def now_ms(given: int | None) -> int:
    """Return the time that was given with --now-ms, or else the current time.

    Raises BadInput for a number that no date can name.
    """
    if given is None:
        return time.time_ns() // 1_000_000
    if not 0 <= given < YEAR_10000_MS:
        raise BadInput(
            f"--now-ms {given} is not a valid time", hint="Give milliseconds since 1970, in UTC."
        )
    return given


def format_local_time(at: datetime, now: datetime | None = None, *, seconds: bool = False) -> str:
    """Return the local time of day; on another day with the date, in another year with the year.

    The days are compared with `now`, which is the clock's time where a caller has no other.
    """
    local = at.astimezone()
    today = datetime.now().astimezone() if now is None else now.astimezone()
    clock = "%H:%M:%S" if seconds else "%H:%M"
    if local.year != today.year:
        return local.strftime(f"%d %b %Y {clock}")
    if local.date() != today.date():
        return local.strftime(f"%d %b {clock}")
    return local.strftime(clock)


def format_duration(seconds: float) -> str:
    """Return a length of time as people read it, such as `45 s`, `12 min` or `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


class Backoff(Struct, frozen=True):
    """The delays after the first, the second, and each further failure in a row.

    The last delay is repeated. The unit of time is whatever the caller uses.
    """

    delays: tuple[float, ...]

    def delay(self, failures: int) -> float:
        """Return the delay after so many failures in a row; 0 before the first."""
        if failures <= 0:
            return 0
        return self.delays[min(failures, len(self.delays)) - 1]

    def delays_before_attempts(self, tries: int) -> Iterator[float]:
        """Yield the delay before each of so many attempts; the first is made at once."""
        for failures in range(tries):
            yield self.delay(failures)


def exponential_backoff(first: float, *, cap: float, factor: float = 2.0) -> Backoff:
    """Return delays that grow by `factor` from `first` up to the cap."""
    delays = [min(first, cap)]
    while 0 < delays[-1] < cap:
        delays.append(min(delays[-1] * factor, cap))
    return Backoff(tuple(delays))


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
