"""A moment as people read it."""

from datetime import UTC, datetime

_LAST_SECOND = 253_402_300_799  # of the year 9999: no stamp can name a later one


def second_stamp(at_ms: int) -> str:
    """In UTC and to the second, as the released logs have it."""
    seconds = min(max(at_ms // 1000, 0), _LAST_SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
