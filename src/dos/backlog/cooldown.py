"""Attempts at a unit, and whether it is on cooldown after one that did not land.

A unit that failed is not offered again at once: the next agent would fail for the same reason, and
other units are waiting. Rewriting the unit, or a person's word, ends its cooldown.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Hours, Milliseconds, Minutes, Table
from dos.text import plural
from dos.times import format_duration


class AttemptOutcome(StrEnum):
    """How an attempt at a unit ended."""

    SHIPPED = "shipped"
    DRAINED = "drained"  # it was dispatched, and no commit came of it
    BLOCKED = "blocked"
    ERROR = "error"
    UNKNOWN = "unknown"

    @classmethod
    def read(cls, text: object) -> "AttemptOutcome":
        """The outcome of that name; UNKNOWN for any other value."""
        for outcome in cls:
            if outcome == text:
                return outcome
        return cls.UNKNOWN


_OUTCOMES = {
    AttemptOutcome.SHIPPED: "it shipped",
    AttemptOutcome.DRAINED: "no commit was made",
    AttemptOutcome.BLOCKED: "it was blocked",
    AttemptOutcome.ERROR: "it failed with an error",
    AttemptOutcome.UNKNOWN: "how it ended is unknown",
}


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt at a unit."""

    unit: str
    outcome: AttemptOutcome
    at_ms: int
    ts: str = ""  # the same moment, for people
    text: str = ""  # the fingerprint of the unit as it was tried; empty: not recorded


class Answer(StrEnum):
    """Whether a unit is on cooldown."""

    CLEAR = "CLEAR"
    RECENTLY_ATTEMPTED = "RECENTLY_ATTEMPTED"


EXIT_CODES = {Answer.CLEAR: 0, Answer.RECENTLY_ATTEMPTED: 3}


class Evidence(Struct, frozen=True, kw_only=True):
    """The attempts at a unit, and the moment that decides."""

    unit_id: str
    attempts: tuple[Attempt, ...]  # in any order; those at other units do not count
    now_ms: int
    # Attempts at the unit that are not listed, because a newer one of the same outcome is.
    unlisted: int = 0
    # The unit's fingerprint now; an attempt at another text does not count for this one.
    text: str = ""
    run_active: bool = False  # a run that tried it has not stopped: it counts its own attempts


class Policy(Table, frozen=True, kw_only=True):
    """[cooldown]: how long a unit is not offered after an attempt that did not land.

    The key in milliseconds wins over the one in hours or minutes.
    """

    window_ms: Milliseconds | None = None
    """How long a unit is not offered after it was tried and not landed; unset: window_hours."""
    window_hours: Hours = 6.0
    """The same as `window_ms`, in hours; `window_ms` wins; 0 is no cooldown."""
    error_window_ms: Milliseconds | None = None
    """How long a unit is not offered after an error; unset: error_window_minutes."""
    error_window_minutes: Minutes = 30.0
    """The same as `error_window_ms`, in minutes; `error_window_ms` wins; 0 is no cooldown."""

    def __post_init__(self) -> None:
        shortest = min(self.window, self.error_window)
        if shortest < timedelta():
            raise ValueError(
                f"a cooldown of {shortest / timedelta(milliseconds=1):g} ms is below 0"
            )

    @property
    def window(self) -> timedelta:
        """The cooldown after an attempt that did not land."""
        if self.window_ms is None:
            return timedelta(milliseconds=round(self.window_hours * 3_600_000))
        return timedelta(milliseconds=round(self.window_ms))

    @property
    def error_window(self) -> timedelta:
        """The cooldown after an error."""
        if self.error_window_ms is None:
            return timedelta(milliseconds=round(self.error_window_minutes * 60_000))
        return timedelta(milliseconds=round(self.error_window_ms))

    def window_after(self, outcome: AttemptOutcome) -> int:
        """The cooldown after an attempt of this outcome, in milliseconds."""
        if outcome is AttemptOutcome.ERROR:
            window = self.error_window
        else:
            window = self.window
        return round(window.total_seconds() * 1000)


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a unit is on cooldown, as `dos cooldown --json` prints it."""

    answer: Answer = field(name="state")
    unit_id: str = ""
    last_ts: str = ""
    count: int = 0
    until_ms: int = 0
    reason: str = ""

    @property
    def held(self) -> bool:
        """Whether the unit is on cooldown."""
        return self.answer is Answer.RECENTLY_ATTEMPTED


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Decide whether a unit is on cooldown, by its newest attempt at its present text."""
    listed = [attempt for attempt in evidence.attempts if attempt.unit == evidence.unit_id]
    current = [attempt for attempt in listed if not _is_at_other_text(attempt, evidence)]
    count = len(listed) + evidence.unlisted
    if evidence.run_active:
        return _clear(evidence, count, "a run that tried it is active, and counts its attempts")
    if not current:
        return _clear(evidence, count, _why_clear(listed, count))

    def recency(attempt: Attempt) -> tuple[int, bool, int, str, str]:
        # Of two at the same moment the one that did not ship decides, then the longer cooldown.
        return (
            attempt.at_ms,
            attempt.outcome is not AttemptOutcome.SHIPPED,
            policy.window_after(attempt.outcome),
            attempt.ts,
            attempt.outcome,
        )

    last = max(current, key=recency)
    until_ms = last.at_ms + policy.window_after(last.outcome)
    is_cooling = last.outcome is not AttemptOutcome.SHIPPED and evidence.now_ms < until_ms
    attempted = f"last tried {_age(last.at_ms, evidence.now_ms)}: {_OUTCOMES[last.outcome]}"
    if is_cooling:
        rest = format_duration((until_ms - evidence.now_ms) / 1000)
        reason = f"{attempted}; on cooldown for another {rest}"
    else:
        reason = f"{attempted}; it may be tried again"
    return Verdict(
        answer=Answer.RECENTLY_ATTEMPTED if is_cooling else Answer.CLEAR,
        unit_id=evidence.unit_id,
        last_ts=last.ts,
        count=count,
        until_ms=until_ms if is_cooling else 0,
        reason=reason,
    )


def describe_attempts(verdict: Verdict, now_ms: int) -> str:
    """How often a unit on cooldown was tried, and how long ago last, such as `3 attempts`."""
    text = plural(verdict.count, "attempt")
    try:
        last = datetime.fromisoformat(verdict.last_ts)
    except ValueError:
        return text  # the attempt came without its time in words
    return f"{text}, the last {_age(int(last.timestamp() * 1000), now_ms)}"


def _age(at_ms: int, now_ms: int) -> str:
    return f"{format_duration(max(0, now_ms - at_ms) / 1000)} ago"


def _clear(evidence: Evidence, count: int, reason: str) -> Verdict:
    """The verdict for a unit that is not on cooldown."""
    return Verdict(answer=Answer.CLEAR, unit_id=evidence.unit_id, count=count, reason=reason)


def _is_at_other_text(attempt: Attempt, evidence: Evidence) -> bool:
    """Whether the unit was rewritten since; not if either text is unknown."""
    if not attempt.text or not evidence.text:
        return False
    return attempt.text != evidence.text


def _why_clear(listed: list[Attempt], count: int) -> str:
    """Why no attempt counts."""
    if listed:
        return "its text has changed since it was tried"
    if count:
        return "a person cleared its cooldown"
    return "it was never tried"
