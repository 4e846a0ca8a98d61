"""A moment as people read it."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from dos.errors import BadInput

YEAR_10000_MS = 253_402_300_800_000  # no stamp can name it


def utc_datetime(at_ms: int) -> datetime:
    """In UTC; what no date can name becomes the nearest that one can."""
    return datetime.fromtimestamp(min(max(at_ms, 0), YEAR_10000_MS - 1) / 1000, UTC)


def format_local_time(at: datetime, now: datetime, *, seconds: bool = False) -> str:
    """As people here read it: the time of day; of another day with its date, of another year with that too."""
    here, today = at.astimezone(), now.astimezone()
    clock = "%H:%M:%S" if seconds else "%H:%M"
    if here.year != today.year:
        return here.strftime(f"%d %b %Y {clock}")
    return here.strftime(clock if here.date() == today.date() else f"%d %b {clock}")


def utc_stamp(at_ms: int) -> str:
    """In UTC and to the second, as the released logs have it."""
    seconds = min(max(at_ms, 0), YEAR_10000_MS - 1) // 1000
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_duration(seconds: float) -> str:
    """Return a length of time as people read it, such as `45 s`, `12 min` or `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def now_stamp() -> str:
    return utc_stamp(int(datetime.now(UTC).timestamp() * 1000))


def now_ms(given: int | None) -> int:
    if given is None:
        return time.time_ns() // 1_000_000
    if not 0 <= given < YEAR_10000_MS:
        raise BadInput(
            f"--now-ms {given} is no moment", hint="Give milliseconds since 1970, in UTC."
        )
    return given


class Backoff(Struct, frozen=True):
    """The waits after the first, the second, ... failure in a row; the last one is also for all that follow.

    In whatever unit of time its maker names.
    """

    delays: tuple[float, ...]

    def delay(self, failures: int) -> float:
        """How long to wait after so many failures in a row: not at all before the first."""
        if failures <= 0:
            return 0
        return self.delays[min(failures, len(self.delays)) - 1]

    def delays_before_attempts(self, tries: int) -> Iterator[float]:
        """How long to wait before each of so many tries, the first of which is made at once."""
        return (self.delay(failures) for failures in range(tries))


def exponential_backoff(first: float, *, cap: float, factor: float = 2.0) -> Backoff:
    """Each wait is `factor` times as long as the one before, and none is longer than the cap."""
    delays = [min(first, cap)]
    while 0 < delays[-1] < cap:
        delays.append(min(delays[-1] * factor, cap))
    return Backoff(tuple(delays))
