"""The moment that a question is asked for: now, unless the caller says when."""

import time

from dos.errors import BadInput

LATEST_MS = 253_402_300_800_000  # the year 10000, which no stamp can name


def now_ms(given: int | None) -> int:
    if given is None:
        return time.time_ns() // 1_000_000
    if not 0 <= given < LATEST_MS:
        raise BadInput(f"--now-ms {given} is no moment", hint="Give milliseconds since 1970, in UTC.")
    return given
