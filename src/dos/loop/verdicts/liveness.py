"""Is a run moving, or only running?"""

from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Minutes, Table
from dos.loop.verdicts.numbers import check_amounts, check_counts
from dos.unknown import Unknown


class Answer(StrEnum):
    ADVANCING = "ADVANCING"  # something landed inside the window, or it is too early to expect it
    SPINNING = "SPINNING"  # alive past its grace with nothing landed
    STALLED = "STALLED"  # no sign of life
    UNKNOWN = "UNKNOWN"  # git could not be read


class Evidence(Struct, frozen=True, kw_only=True):
    """What git, the journal and the system say of a run; never what it says of itself."""

    run_started_ms: int
    now_ms: int
    commits_since_start: int | Unknown  # that touch its region
    journal_events_since: int = 0  # lanes that it took and gave back after its first; never beats
    last_heartbeat_age_ms: int | None = None  # None: it never beat
    process_alive: bool | None = None  # None: nobody here can say
    tokens_spent_since: int | None = None  # told, so it decides nothing
    progress_age_ms: int | None = None  # of the newest commit or event
    lapsed: bool = False  # its lease is over, and so is every beat that renewed it

    def __post_init__(self) -> None:
        if not isinstance(self.commits_since_start, Unknown):
            check_counts(commits_since_start=self.commits_since_start)
        check_counts(
            journal_events_since=self.journal_events_since,
            last_heartbeat_age_ms=self.last_heartbeat_age_ms,
            tokens_spent_since=self.tokens_spent_since,
            progress_age_ms=self.progress_age_ms,
        )

    @property
    def age_ms(self) -> int:
        return max(0, self.now_ms - self.run_started_ms)


class Policy(Table, frozen=True, kw_only=True):
    """[liveness]: when a run that lands nothing is called spinning, and a silent one stalled."""

    grace_minutes: Minutes = 30.0
    """A run younger than this is never called spinning or stalled."""
    spin_minutes: Minutes = 15.0
    """A heartbeat older than this does not count as a sign of life."""
    window_minutes: Minutes = 30.0
    """Progress older than this does not count."""

    def __post_init__(self) -> None:
        check_amounts(
            grace_minutes=self.grace_minutes,
            spin_minutes=self.spin_minutes,
            window_minutes=self.window_minutes,
        )

    @property
    def grace_ms(self) -> int:
        return round(self.grace_minutes * 60_000)

    @property
    def spin_ms(self) -> int:
        return round(self.spin_minutes * 60_000)

    @property
    def window_ms(self) -> int:
        return round(self.window_minutes * 60_000)


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    reason: str = ""
    evidence: Evidence | None = None


def judge(seen: Evidence, policy: Policy = Policy()) -> Verdict:
    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=reason, evidence=seen)

    if isinstance(seen.commits_since_start, Unknown):
        return verdict(
            Answer.UNKNOWN, f"progress could not be read: {seen.commits_since_start.why}"
        )
    # A dead process outranks all that it left behind: its commits, and a wrapper that goes on beating for it.
    if seen.process_alive is False:
        return verdict(Answer.STALLED, "its process is gone")
    progress, beat = _since_progress_ms(seen), seen.last_heartbeat_age_ms
    if progress is not None and progress <= policy.window_ms:
        return verdict(Answer.ADVANCING, f"the newest progress is {format_span(progress)} old")
    landed = (
        "nothing has landed"
        if progress is None
        else f"nothing has landed for {format_span(progress)}"
    )
    if seen.lapsed:
        return verdict(Answer.STALLED, f"its lease is over, and {landed}")
    # A process that is there lives, however long ago it said so.
    if beat is not None and beat > policy.spin_ms and not seen.process_alive:
        return verdict(
            Answer.STALLED, f"the last sign of life is {format_span(beat)} old, and {landed}"
        )
    if seen.age_ms < policy.grace_ms:
        return verdict(
            Answer.ADVANCING,
            f"it began {format_span(seen.age_ms)} ago: too early to expect anything",
        )
    if beat is None and not seen.process_alive:
        return verdict(
            Answer.STALLED, f"it began {format_span(seen.age_ms)} ago and never gave a sign of life"
        )
    lives = (
        "its process is there"
        if beat is None or seen.process_alive
        else f"alive {format_span(beat)} ago"
    )
    return verdict(Answer.SPINNING, f"{lives}, and {landed}")


def format_span(span_ms: int) -> str:
    seconds = span_ms // 1000
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _since_progress_ms(seen: Evidence) -> int | None:
    """Progress without a time was made since the run began, and nobody may call it younger than that."""
    if seen.progress_age_ms is not None:
        return seen.progress_age_ms
    return seen.age_ms if seen.commits_since_start or seen.journal_events_since else None
