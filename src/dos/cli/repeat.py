"""Repeats an action at an interval, for verbs with --watch."""

import time
from collections.abc import Callable

from dos import times
from dos.errors import BadInput

LONGEST_SECONDS = 31_536_000.0  # a year


def repeat(
    action: Callable[[int], None], *, interval_seconds: float, max_ticks: int | None
) -> None:
    """Call the action with 0, 1, 2, ... until Ctrl-C, or `max_ticks` times.

    There is no wait after the last call.
    """
    number = 0
    try:
        while True:
            action(number)
            number += 1
            if number == max_ticks:
                return
            time.sleep(interval_seconds)
    except KeyboardInterrupt:
        return


def check_options(interval_seconds: float, max_ticks: int | None, now_ms: int | None) -> None:
    """Raise BadInput for an interval, a number of ticks or a time that cannot be used."""
    times.now_ms(now_ms)
    if not 0 <= interval_seconds <= LONGEST_SECONDS:
        raise BadInput(
            f"--interval is {interval_seconds:g}; it must be from 0 to {LONGEST_SECONDS:.0f}"
            " seconds",
            hint="For example: --interval 30",
        )
    if max_ticks is not None and max_ticks < 1:
        raise BadInput(
            f"--max-ticks is {max_ticks}; it must be at least 1",
            hint="Leave it out to continue until Ctrl-C.",
        )


def tick_time_ms(given_ms: int | None, tick: int, interval_seconds: float) -> int | None:
    """Return the time of a tick where the caller gives the time of the first one; else None."""
    if given_ms is None:
        return None
    return given_ms + round(tick * interval_seconds * 1000)
