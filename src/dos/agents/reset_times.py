"""Read reset times that programs write for people.

For example `resets 3:45pm (Europe/Lisbon)`, `retry in 34s`, `|1794706237`.
"""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import structs

from dos.agents.adapter import AgentOutcome, Ending

# A time that passed this recently is not tomorrow's: it passed between the message and the end.
JUST_PASSED = timedelta(minutes=15)
LONGEST_SECONDS = 366 * 86_400.0  # a time further away than this is no reset time
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
    """The outcome with the time that the message named.

    A usage window resets at a moment; any other ending may be retried after some seconds.
    """
    if moment is None:
        return outcome
    if outcome.ending is Ending.USAGE_WINDOW:
        return structs.replace(outcome, resets_at=moment)
    seconds = max(0.0, (moment - now).total_seconds())
    return structs.replace(outcome, retry_after_seconds=seconds)


def parse_reset_time(message: str, now: datetime) -> datetime | None:
    """The first time in a message that was printed at `now`; without a zone it is local."""
    seconds_since_1970 = _EPOCH.search(message)
    if seconds_since_1970:
        return moment_of_epoch(float(seconds_since_1970[1]), now)
    seconds = parse_duration(message)
    if seconds is not None:
        return moment_after(seconds, now)
    clock_time = _AT.search(message)
    if clock_time:
        return _next_clock_time(clock_time.groupdict(), now)
    return None


def parse_duration(message: str) -> float | None:
    """The seconds that a message says to wait; None where it names no duration."""
    match = _IN.search(message)
    if not match:
        return None
    pieces = re.findall(_PIECE, match[1], re.ASCII | re.IGNORECASE)
    return sum(float(amount) * _UNITS[unit.lower()] for amount, unit in pieces)


def moment_after(seconds: float | None, now: datetime) -> datetime | None:
    """The moment so many seconds from now; None for a duration that no limit has."""
    if seconds is None or not 0 <= seconds <= LONGEST_SECONDS:
        return None
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None


def moment_of_epoch(value: float | None, now: datetime) -> datetime | None:
    """The moment of seconds or milliseconds since 1970; None for one more than a year away."""
    if value is None:
        return None
    seconds = value
    if value >= MILLISECONDS_FROM:
        seconds = value / 1000
    if not abs(seconds - now.timestamp()) <= LONGEST_SECONDS:  # also for a NaN
        return None
    try:
        return datetime.fromtimestamp(seconds, now.tzinfo)
    except (ValueError, OverflowError):  # no such date
        return None


def _next_clock_time(fields: dict[str, str | None], now: datetime) -> datetime | None:
    """The next moment at which a clock shows these fields of `_AT`; None where it never does."""
    try:
        return _resolve_clock_time(fields, now)
    except (ValueError, OverflowError, KeyError, OSError):  # no such day, no such zone
        return None


def _resolve_clock_time(fields: dict[str, str | None], now: datetime) -> datetime | None:
    """The moment of these fields; ValueError and the like where there is none."""
    here = now
    if fields["zone"]:
        here = now.astimezone(ZoneInfo(fields["zone"]))
    hour = int(fields["hour"] or 0)
    if not 1 <= hour <= 12:
        return None
    hour %= 12
    if (fields["half"] or "").lower() == "p":
        hour += 12
    moment = here.replace(hour=hour, minute=int(fields["minute"] or 0), second=0, microsecond=0)
    if fields["month"] and fields["day"]:
        return _on_date(moment, here, fields["month"], fields["day"], fields["year"])
    step = timedelta(days=1)
    if fields["weekday"]:
        ahead = (_WEEKDAYS.index(fields["weekday"].lower()) - here.weekday()) % 7
        moment += timedelta(days=ahead)
        step = timedelta(days=7)
    if moment > here - JUST_PASSED:
        return moment
    return moment + step


def _on_date(moment: datetime, here: datetime, month: str, day: str, year: str | None) -> datetime:
    """The moment on a date; without a year, in the year that makes it nearest."""
    moment = moment.replace(
        year=int(year or here.year), month=_MONTHS.index(month.lower()) + 1, day=int(day)
    )
    is_long_past = moment < here - timedelta(days=180)
    if is_long_past and not year:
        return moment.replace(year=moment.year + 1)
    return moment
