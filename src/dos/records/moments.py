"""A moment as people read it."""

from datetime import UTC, datetime

YEAR_10000_MS = 253_402_300_800_000  # no stamp can name it


def second_stamp(at_ms: int) -> str:
    """In UTC and to the second, as the released logs have it."""
    seconds = min(max(at_ms, 0), YEAR_10000_MS - 1) // 1000
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
