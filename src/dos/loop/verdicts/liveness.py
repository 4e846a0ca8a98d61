"""Decide whether a run makes progress, runs without progress, or is dead."""

from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Minutes, Table, check_amounts, check_counts
from dos.lease import LEASE_OVER, PROCESS_GONE
from dos.unknown import Unknown


class Answer(StrEnum):
    """How a run is doing."""

    ADVANCING = "ADVANCING"  # something landed inside the window, or it is too early to expect it
    SPINNING = "SPINNING"  # alive past its grace with nothing landed
    STALLED = "STALLED"  # no sign of life
    UNKNOWN = "UNKNOWN"  # git could not be read


class Evidence(Struct, frozen=True, kw_only=True):
    """What git, the journal and the system say of a run; what it says of itself does not count."""

    run_started_ms: int
    now_ms: int
    commits_since_start: int | Unknown  # that touch its region
    journal_events_since: int = 0  # lanes that it took or released after its first one
    last_heartbeat_age_ms: int | None = None  # None: it sent no heartbeat
    process_alive: bool | None = None  # None: not known on this system
    tokens_spent_since: int | None = None  # reported by the run, so it decides nothing
    progress_age_ms: int | None = None  # of the newest commit or event
    lapsed: bool = False  # its lease has expired

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
        """The time since the run began."""
        return max(0, self.now_ms - self.run_started_ms)


class Policy(Table, frozen=True, kw_only=True):
    """[liveness]: when a run that lands nothing is called spinning, and a silent one stalled."""

    grace_minutes: Minutes = 30.0
    """A younger run is not called spinning, nor stalled because it sent no heartbeat yet."""
    spin_minutes: Minutes = 15.0
    """An older heartbeat is no sign of life, unless the process is known to run."""
    window_minutes: Minutes = 30.0
    """Commits and lane events older than this do not count as progress."""

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
    """How a run is doing, why, and what that was judged from."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    evidence: Evidence | None = None


def judge(evidence: Evidence, policy: Policy = Policy()) -> Verdict:
    """Judge a run by its process, its progress and its heartbeats, in this order."""

    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=reason, evidence=evidence)

    if isinstance(evidence.commits_since_start, Unknown):
        return verdict(
            Answer.UNKNOWN, f"progress could not be read: {evidence.commits_since_start.why}"
        )
    # A dead process outranks its commits, and a wrapper that sends heartbeats for it.
    if evidence.process_alive is False:
        return verdict(Answer.STALLED, PROCESS_GONE)
    progress = _since_progress_ms(evidence)
    beat = evidence.last_heartbeat_age_ms
    if progress is not None and progress <= policy.window_ms:
        return verdict(Answer.ADVANCING, f"the newest progress is {format_span(progress)} old")
    landed = "nothing has landed"
    if progress is not None:
        landed = f"nothing has landed for {format_span(progress)}"
    if evidence.lapsed:
        return verdict(Answer.STALLED, f"{LEASE_OVER}, and {landed}")
    # A process that runs is alive, however old its last heartbeat is.
    if beat is not None and beat > policy.spin_ms and not evidence.process_alive:
        return verdict(
            Answer.STALLED, f"the last sign of life is {format_span(beat)} old, and {landed}"
        )
    if evidence.age_ms < policy.grace_ms:
        return verdict(
            Answer.ADVANCING,
            f"it began {format_span(evidence.age_ms)} ago: too early to expect anything",
        )
    if beat is None and not evidence.process_alive:
        return verdict(
            Answer.STALLED,
            f"it began {format_span(evidence.age_ms)} ago and never gave a sign of life",
        )
    return verdict(Answer.SPINNING, f"{_sign_of_life(evidence)}, and {landed}")


def _sign_of_life(evidence: Evidence) -> str:
    beat = evidence.last_heartbeat_age_ms
    if beat is None or evidence.process_alive:
        return "its process is there"
    return f"alive {format_span(beat)} ago"


def format_span(span_ms: int) -> str:
    """Return a time span in words: `90 s`, `5 min`, `2.5 h`."""
    seconds = span_ms // 1000
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds / 3600:.1f} h"


def _since_progress_ms(evidence: Evidence) -> int | None:
    """Return the age of the last progress; where its time is not known, the age of the run."""
    if evidence.progress_age_ms is not None:
        return evidence.progress_age_ms
    return (
        evidence.age_ms if evidence.commits_since_start or evidence.journal_events_since else None
    )
