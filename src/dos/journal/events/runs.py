"""Events about a run's declared work, proofs about its commits, and the lines of imported logs.

The events of a run are in its own stream, `run/<id>`, so that its state is read from that stream
alone. Test witnesses are in the stream of their commit, receipts in that of their unit, and
imported lines in the stream of their file, `import/<name>`.
"""

from typing import Any

from msgspec import field

from dos.journal.events.envelope import Fact


class IntentDeclared(Fact, frozen=True, kw_only=True):
    """A run declared what it will do. Recorded when the work begins and again when it continues.

    A declaration ends a suspension and can add steps; only an approved `ExtentChanged` removes
    some.
    """

    kind = "intent_declared"
    run_id: str
    goal: str = ""
    plan: str = ""
    phase: str = ""
    lane: str = ""
    start_sha: str = ""
    steps: list[str] = field(default_factory=list)
    regions: dict[str, list[str]] = field(default_factory=dict)  # step -> globs it has to touch
    env: dict[str, Any] = field(default_factory=dict)
    resumes: str = ""  # the run whose work this one continues


class ExtentChanged(Fact, frozen=True, kw_only=True):
    """A run's declared steps were changed, with a person's approval if `approved_by` is set."""

    kind = "extent_changed"
    run_id: str
    steps: list[str]
    regions: dict[str, list[str]]
    approved_by: str


class StepClaimed(Fact, frozen=True, kw_only=True):
    """A run claimed that a step is done. Nothing is decided by it before git shows the step."""

    kind = "step_claimed"
    run_id: str
    step: str
    sha: str


class StepVerified(Fact, frozen=True, kw_only=True):
    """Git showed that a step was done when this was recorded. Readers verify it again.

    Recorded by `dos run verify`, and by a worker when it lands a unit.
    """

    kind = "step_verified"
    run_id: str
    step: str
    sha: str
    via: str = ""
    verdicts: list[str] = field(default_factory=list)


class RunSuspended(Fact, frozen=True, kw_only=True):
    """A run was put aside so that it can be resumed: by `dos run suspend` or a resumable halt."""

    kind = "run_suspended"
    run_id: str
    reason: str = ""
    resume_sha: str = ""
    residual: list[str] = field(default_factory=list)
    checkpoint_turn: int = -1
    transcript_digest: str = ""  # of that turn; without it there is no checkpoint
    transcript: str = ""  # the file


class ResumeProposed(Fact, frozen=True, kw_only=True):
    """`dos resume` reported that a run can be continued.

    It is recorded once, until the run is suspended or declared again.
    """

    kind = "resume_proposed"
    run_id: str
    predecessor: str = ""
    resume_sha: str = ""
    residual: list[str] = field(default_factory=list)


class RunResumed(Fact, frozen=True, kw_only=True):
    """A successor claimed the work of a run. Recorded in the stream of the run that it continues.

    The stream's version admits exactly one successor.
    """

    kind = "run_resumed"
    run_id: str
    successor: str
    fence: int | None = None  # of the lease that the successor works under
    approved_by: str = ""  # who allowed it to continue over other people's commits


class RunEnded(Fact, frozen=True, kw_only=True):
    """A run of a caller's own loop ended (`dos run end`). A worker records `RunStopped` instead."""

    kind = "run_ended"
    run_id: str
    result: str
    reason: str = ""


class HaltProposed(Fact, frozen=True, kw_only=True):
    """`dos halt` or `dos watch` proposed that a process be stopped. No signal is sent by it."""

    kind = "halt_proposed"
    handle: str
    lane: str = ""
    loop_ts: str = ""
    host: str = ""
    owner: str = ""
    run_id: str = ""
    command: str = ""
    reason: str = ""
    moved_ms: int | None = None  # when the run last made progress; None: not looked at


class LedgerLineUnreadable(Fact, frozen=True, kw_only=True):
    """A line of a run's imported intent ledger could not be read, so part of the run is unknown.

    Recorded by `dos journal import` in the stream of the run.
    """

    kind = "ledger_line_unreadable"
    run_id: str
    file: str
    line: int
    newer: bool = False  # a newer version wrote it: it may change what the other lines mean


class LineImported(Fact, frozen=True, kw_only=True):
    """`dos journal import` read a line of a log; it is kept unchanged, with its file and number."""

    kind = "line_imported"
    file: str
    line: int
    op: str
    record: dict[str, Any]


class LineUnreadable(Fact, frozen=True, kw_only=True):
    """`dos journal import` could not read a line of a log; its text is kept, so nothing is lost."""

    kind = "line_unreadable"
    file: str
    line: int
    text: str


class TestWitnessed(Fact, frozen=True, kw_only=True):
    """A test runner ran a commit's tests with and without the commit's change.

    Recorded in the stream of the commit by `dos test-witness run` and by workers, so that the
    tests need not be run again.
    """

    __test__ = False  # pytest would collect a class of this name

    kind = "test_witnessed"
    commit: str
    tree: str
    command: str
    verdict: str
    witnesses: bool
    cells: dict[str, list[str]]  # how each run came out, by old or new tests and code
    runner: str  # the host
    network: str  # off or on
    parent: str = ""
    unit: str = ""
    command_from: str = ""  # where the command came from: dos.toml, the unit's plan, or the caller
    assert_level: bool = False
    reason: str = ""
    weakened: list[str] = field(default_factory=list)
    intended: list[str] = field(default_factory=list)  # old tests that fail now, on purpose


class CommandChecked(Fact, frozen=True, kw_only=True):
    """A command ran on a tree in a check tree, for a landing or on the commit below it.

    Recorded in the stream of all that its result can depend on, so that it need not run again. Of
    work only passing results are recorded; a failing one is recorded of the commit below it.
    """

    kind = "command_checked"
    host: str
    command: str
    tree: str
    commit: str
    setup: str  # digest of the setup command and the lock files
    environment: str  # digest of the variables that the command saw
    sandbox: str  # what was active while it ran
    passed: bool
    detail: str
    exit_code: int | None
    output_digest: str
    started: str
    ended: str


class ReceiptIssued(Fact, frozen=True, kw_only=True):
    """A worker issued the receipt of a landed commit, or could not.

    Recorded in the stream of the unit, once for each landed commit: after the branch was moved and
    before the unit counts as landed.
    """

    kind = "receipt_issued"
    run_id: str
    lane: str
    unit: str
    commit: str
    receipt: dict[str, Any] | None  # None: it could not be issued
    said: str = ""  # for people: that a key was generated, or why the receipt is not signed


def receipt_key(commit: str) -> str:
    """Return the key under which a commit's receipt is recorded, so that it is recorded once."""
    return f"receipt/{commit}"
