"""Moments as people type them after --since: an age such as 8h, or a date."""

import re
from datetime import UTC, datetime

from dos.errors import BadInput
from dos.text import quote

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


def moment_of_since(since: str, now_ms: int) -> int:
    """Return the time that --since names in milliseconds, 0 where it names none.

    Raises BadInput where it is neither an age nor a date.
    """
    if not since:
        return 0
    parsed = parse_moment(since, now_ms)
    if parsed is None:
        raise BadInput(
            f"--since {quote(since)} is not an age or a date",
            hint="For example: --since 8h, or --since 2026-08-01",
        )
    return max(0, parsed)
