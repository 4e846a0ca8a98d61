"""Times as programs write them for people: `resets 3:45pm (Europe/Lisbon)`, `retry in 34s`, `|1794706237`."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import structs

from dos.agents.adapter import AgentOutcome, Ending

JUST_PASSED = timedelta(
    minutes=15
)  # such a time is not tomorrow's: it passed between the words and the end
LONGEST_SECONDS = 366 * 86_400.0  # what is further away than this is no time of reset
MILLISECONDS_FROM = 1e12  # an epoch this large is not in seconds
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}

_EPOCH = re.compile(r"\|(\d{10,13})\b")
_AT = re.compile(
    r"(?:resets?|again)\s+(?:(?:at|on)\s+)?"
    rf"(?:(?P<weekday>{'|'.join(_WEEKDAYS)})[a-z]*,?\s+(?:at\s+)?)?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<year>\d{4}))?,?\s+(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?(?:\s*\((?P<zone>[^()]{1,64})\))?",
    re.ASCII | re.IGNORECASE,
)
_PIECE = r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|s|m(?!o|i?ll)|h|d)[a-z]*"
_IN = re.compile(
    rf"(?:retry|resets?|again)\s+(?:in|after)\s+((?:{_PIECE}[\s,]*(?:and\s+)?)+)",
    re.ASCII | re.IGNORECASE,
)


def with_reset_time(outcome: AgentOutcome, moment: datetime | None, now: datetime) -> AgentOutcome:
    """With the time that was named: a window resets at a moment, anything else may be tried after a while."""
    if moment is None:
        return outcome
    if outcome.ending is Ending.USAGE_WINDOW:
        return structs.replace(outcome, resets_at=moment)
    return structs.replace(outcome, retry_after_seconds=max(0.0, (moment - now).total_seconds()))


def parse_reset_time(words: str, now: datetime) -> datetime | None:
    """The first time in the words, by a clock that stood at `now` when they were read; its zone is the local one."""
    if found := _EPOCH.search(words):
        return moment_of_epoch(float(found[1]), now)
    if (seconds := parse_duration(words)) is not None:
        return moment_after(seconds, now)
    if found := _AT.search(words):
        return _next_clock_time(found.groupdict(), now)
    return None


def parse_duration(words: str) -> float | None:
    """Seconds, where the words say how long and not until when."""
    found = _IN.search(words)
    if not found:
        return None
    pieces = re.findall(_PIECE, found[1], re.ASCII | re.IGNORECASE)
    return sum(float(amount) * _UNITS[unit.lower()] for amount, unit in pieces)


def moment_after(seconds: float | None, now: datetime) -> datetime | None:
    if seconds is None or not 0 <= seconds <= LONGEST_SECONDS:
        return None
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None


def moment_of_epoch(value: float | None, now: datetime) -> datetime | None:
    """Seconds or milliseconds since 1970; nothing for one that is not near to now."""
    if value is None:
        return None
    seconds = value / 1000 if value >= MILLISECONDS_FROM else value
    if not abs(seconds - now.timestamp()) <= LONGEST_SECONDS:
        return None
    try:
        return datetime.fromtimestamp(seconds, now.tzinfo)
    except (ValueError, OverflowError):  # beyond what a date can be
        return None


def _next_clock_time(said: dict[str, str | None], now: datetime) -> datetime | None:
    """The next moment at which a clock shows this; None where it can never do so."""
    try:
        here = now.astimezone(ZoneInfo(said["zone"])) if said["zone"] else now
        if not 1 <= int(said["hour"] or 0) <= 12:
            return None
        hour = int(said["hour"] or 0) % 12 + (12 if (said["half"] or "").lower() == "p" else 0)
        moment = here.replace(hour=hour, minute=int(said["minute"] or 0), second=0, microsecond=0)
        if said["month"] and said["day"]:
            month = _MONTHS.index(said["month"].lower()) + 1
            moment = moment.replace(
                year=int(said["year"] or here.year), month=month, day=int(said["day"])
            )
            is_past = moment < here - timedelta(days=180) and not said["year"]
            return moment.replace(year=moment.year + 1) if is_past else moment
        if said["weekday"]:
            ahead = (_WEEKDAYS.index(said["weekday"].lower()) - here.weekday()) % 7
            moment += timedelta(days=ahead)
        step = timedelta(days=7 if said["weekday"] else 1)
        return moment if moment > here - JUST_PASSED else moment + step
    except (ValueError, OverflowError, KeyError, OSError):  # no such day, no such zone
        return None
