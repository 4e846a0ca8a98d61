"""Does something again and again, until it was done often enough or somebody presses Ctrl-C."""

import time
from collections.abc import Callable

from dos import times
from dos.errors import BadInput

LONGEST_SECONDS = 31_536_000.0


def repeat(
    action: Callable[[int], None], *, interval_seconds: float, max_ticks: int | None
) -> None:
    """With the number of each tick, from 0; nobody waits after the last one."""
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
    times.now_ms(now_ms)
    if not 0 <= interval_seconds <= LONGEST_SECONDS:
        raise BadInput(
            f"--interval {interval_seconds:g} is no time to wait",
            hint="Give seconds, for example 30.",
        )
    if max_ticks is not None and max_ticks < 1:
        raise BadInput(
            f"--max-ticks is {max_ticks}; there is at least one",
            hint="Leave it out to go on until Ctrl-C.",
        )


def tick_time_ms(given: int | None, tick: int, interval_seconds: float) -> int | None:
    """The time of a tick where the caller says what time it is: it goes on as it would have."""
    return None if given is None else given + round(tick * interval_seconds * 1000)
