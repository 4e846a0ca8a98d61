"""The moment that a question is asked for: now, unless the caller says when."""

import time

from dos.errors import BadInput
from dos.records.moments import YEAR_10000_MS


def now_ms(given: int | None) -> int:
    if given is None:
        return time.time_ns() // 1_000_000
    if not 0 <= given < YEAR_10000_MS:
        raise BadInput(f"--now-ms {given} is no moment", hint="Give milliseconds since 1970, in UTC.")
    return given
