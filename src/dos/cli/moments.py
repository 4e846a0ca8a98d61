"""Moments as people type them after --since: an age such as 8h, or a date."""

import re
from datetime import UTC, datetime

UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
AGO = re.compile(r"([0-9]{1,6})([mhd])")


def parse_moment(text: str, now_ms: int) -> int | None:
    """Return the time in milliseconds; a date without a zone is in UTC. None: it is neither."""
    age = AGO.fullmatch(text)
    if age:
        return now_ms - int(age[1]) * UNITS_MS[age[2]]
    try:
        date = datetime.fromisoformat(text)
        return int(date.replace(tzinfo=date.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
