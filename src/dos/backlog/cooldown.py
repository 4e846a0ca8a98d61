"""Was this unit tried a short while ago, without moving?"""

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Hours, Milliseconds, Minutes, Table
from dos.times import utc_stamp


class AttemptOutcome(StrEnum):
    """How a try at a unit ended."""

    SHIPPED = "shipped"
    DRAINED = "drained"  # it was offered, and nothing came of it
    BLOCKED = "blocked"
    ERROR = "error"
    UNKNOWN = "unknown"

    @classmethod
    def read(cls, text: object) -> "AttemptOutcome":
        """The outcome of that name; a name that nobody knows is one that is unknown."""
        return next((outcome for outcome in cls if outcome == text), cls.UNKNOWN)


class Attempt(Struct, frozen=True, kw_only=True):
    unit: str
    outcome: AttemptOutcome
    at_ms: int
    ts: str = ""  # the same moment, for people
    text: str = ""  # the fingerprint of the unit as it was tried; empty: nobody wrote it down


class Answer(StrEnum):
    CLEAR = "CLEAR"
    RECENTLY_ATTEMPTED = "RECENTLY_ATTEMPTED"


EXIT_CODES = {Answer.CLEAR: 0, Answer.RECENTLY_ATTEMPTED: 3}


class Evidence(Struct, frozen=True, kw_only=True):
    unit_id: str
    attempts: tuple[Attempt, ...]  # in any order; those at other units do not count
    now_ms: int
    unlisted: int = (
        0  # attempts at the unit that are not listed, because a newer one of the same outcome is
    )
    text: str = (
        ""  # the unit's fingerprint now; an attempt at another text says nothing about this one
    )
    run_active: bool = False  # a run that tried it has not stopped: it counts its own tries


class Policy(Table, frozen=True, kw_only=True):
    """[cooldown]: how long a unit rests after an attempt that did not land. Where both units are written, ms wins."""

    window_ms: Milliseconds | None = None
    """How long a unit is not offered again after an attempt that did not land."""
    window_hours: Hours = 6.0
    """The same as `window_ms`, in hours; `window_ms` wins."""
    error_window_ms: Milliseconds | None = None
    """How long a unit is not offered again after an attempt that ended in an error."""
    error_window_minutes: Minutes = 30.0
    """The same as `error_window_ms`, in minutes; `error_window_ms` wins."""

    def __post_init__(self) -> None:
        shortest = min(self.window, self.error_window)
        if shortest < timedelta():
            raise ValueError(
                f"a cooldown of {shortest / timedelta(milliseconds=1):g} ms is below 0"
            )

    @property
    def window(self) -> timedelta:
        written = self.window_ms
        return timedelta(
            milliseconds=round(self.window_hours * 3_600_000 if written is None else written)
        )

    @property
    def error_window(self) -> timedelta:
        written = self.error_window_ms
        return timedelta(
            milliseconds=round(self.error_window_minutes * 60_000 if written is None else written)
        )

    def window_after(self, outcome: AttemptOutcome) -> int:
        """In milliseconds."""
        window = self.error_window if outcome is AttemptOutcome.ERROR else self.window
        return round(window.total_seconds() * 1000)


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="state")
    unit_id: str = ""
    last_ts: str = ""
    count: int = 0
    until_ms: int = 0
    reason: str = ""

    @property
    def held(self) -> bool:
        return self.answer is Answer.RECENTLY_ATTEMPTED


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    listed = [attempt for attempt in seen.attempts if attempt.unit == seen.unit_id]
    tried = [attempt for attempt in listed if not _rewritten(attempt, seen)]
    count = len(listed) + seen.unlisted
    if seen.run_active:
        reason = "a run that tried it goes on, and counts its own tries"
        return Verdict(answer=Answer.CLEAR, unit_id=seen.unit_id, count=count, reason=reason)
    if not tried:
        return Verdict(
            answer=Answer.CLEAR, unit_id=seen.unit_id, count=count, reason=_untried(listed, count)
        )

    def newest_first(attempt: Attempt) -> tuple[int, bool, int, str, str]:
        # Of two at the same moment the one that did not ship counts, then the one that rests longer.
        shipped = attempt.outcome is AttemptOutcome.SHIPPED
        return (
            attempt.at_ms,
            not shipped,
            policy.window_after(attempt.outcome),
            attempt.ts,
            attempt.outcome,
        )

    last = max(tried, key=newest_first)
    wall = last.at_ms + policy.window_after(last.outcome)
    resting = last.outcome is not AttemptOutcome.SHIPPED and seen.now_ms < wall
    rests = (
        f"rests for another {(wall - seen.now_ms) / 60_000:.0f} minutes"
        if resting
        else "may be tried"
    )
    return Verdict(
        answer=Answer.RECENTLY_ATTEMPTED if resting else Answer.CLEAR,
        unit_id=seen.unit_id,
        last_ts=last.ts,
        count=count,
        until_ms=wall if resting else 0,
        reason=f"last tried {last.ts or utc_stamp(last.at_ms)}: {last.outcome}; it {rests}",
    )


def _rewritten(attempt: Attempt, seen: Evidence) -> bool:
    """The unit's text has changed since; where either text is not known, it has not."""
    return bool(attempt.text and seen.text) and attempt.text != seen.text


def _untried(listed: list[Attempt], count: int) -> str:
    if listed:
        return "its text has changed since it was tried"
    if count:
        return "a person cleared its cooldown"
    return "it was never tried"
