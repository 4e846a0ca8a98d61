"""What is written of a run: what it set out to do, what it claims and what was checked, how it ended, who goes on.

They stand in the stream of their run, `run/<id>`, so that a run is known by reading its own stream alone.
"""

from typing import Any

from msgspec import field

from dos.journal.events.envelope import Fact


class IntentDeclared(Fact, frozen=True, kw_only=True):
    """Said when work begins, and again when the same run goes on: then it is suspended no longer.

    It can add steps. Only an approved change of the extent takes some away.
    """

    kind = "intent_declared"
    run_id: str
    goal: str = ""
    plan: str = ""
    phase: str = ""
    lane: str = ""
    start_sha: str = ""
    steps: list[str] = field(default_factory=list)
    regions: dict[str, list[str]] = field(
        default_factory=dict
    )  # step -> the globs that its commit has to touch
    env: dict[str, Any] = field(default_factory=dict)
    resumes: str = ""  # the run whose work this one goes on with


class ExtentChanged(Fact, frozen=True, kw_only=True):
    kind = "extent_changed"
    run_id: str
    steps: list[str]
    regions: dict[str, list[str]]
    approved_by: str


class StepClaimed(Fact, frozen=True, kw_only=True):
    """What the run says. It is never believed."""

    kind = "step_claimed"
    run_id: str
    step: str
    sha: str


class StepVerified(Fact, frozen=True, kw_only=True):
    """Git bore the step out when this was written; whoever reads it asks git again."""

    kind = "step_verified"
    run_id: str
    step: str
    sha: str
    via: str = ""
    verdicts: list[str] = field(default_factory=list)


class RunSuspended(Fact, frozen=True, kw_only=True):
    kind = "run_suspended"
    run_id: str
    reason: str = ""
    resume_sha: str = ""
    residual: list[str] = field(default_factory=list)
    checkpoint_turn: int = -1
    transcript_digest: str = ""  # of that turn; a checkpoint exists only with it
    transcript: str = ""  # the file


class ResumeProposed(Fact, frozen=True, kw_only=True):
    """Somebody was told that this run can go on. Written once, until the run is suspended or declared again."""

    kind = "resume_proposed"
    run_id: str
    predecessor: str = ""
    resume_sha: str = ""
    residual: list[str] = field(default_factory=list)


class RunResumed(Fact, frozen=True, kw_only=True):
    """The successor's claim, in the stream of the run that it goes on with: there is exactly one."""

    kind = "run_resumed"
    run_id: str
    successor: str
    fence: int | None = None  # of the lease that the successor works under
    approved_by: str = ""  # who let it go on over other people's commits


class RunEnded(Fact, frozen=True, kw_only=True):
    kind = "run_ended"
    run_id: str
    result: str
    reason: str = ""


class HaltProposed(Fact, frozen=True, kw_only=True):
    """Somebody should stop a process. Nobody is signalled by this."""

    kind = "halt_proposed"
    handle: str
    lane: str = ""
    loop_ts: str = ""
    host: str = ""
    owner: str = ""
    run_id: str = ""
    command: str = ""
    reason: str = ""
    moved_ms: int | None = None  # when the run had moved last; None: nobody looked


class LedgerLineUnreadable(Fact, frozen=True, kw_only=True):
    """A line of a run's imported ledger that says nothing: so much of what happened is not known."""

    kind = "ledger_line_unreadable"
    run_id: str
    file: str
    line: int
    newer: bool = False  # a newer version wrote it: what it said may change everything


class LineImported(Fact, frozen=True, kw_only=True):
    """A line of a released log format, kept as it was, with where it stood."""

    kind = "line_imported"
    file: str
    line: int
    op: str
    record: dict[str, Any]


class LineUnreadable(Fact, frozen=True, kw_only=True):
    """A line that could not be read is kept too: nothing is lost by importing."""

    kind = "line_unreadable"
    file: str
    line: int
    text: str
