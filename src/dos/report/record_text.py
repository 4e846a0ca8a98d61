"""The sentences of the events that only `dos timeline` shows: bookkeeping of leases and runs.

They are written for a program that reads the journal, and a person meets them when a timeline is
read line by line. `event_text.describe` is the way in: it chooses between these sentences and its
own.
"""

from typing import assert_never

from dos.journal.events import doors, fleet, lanes, limits, runs
from dos.journal.events.runs import TestWitnessed
from dos.loop import tokens
from dos.text import join_some, plural, show_name
from dos.times import format_duration

# What an agent was answered; the tokens stay in the journal and in JSON.
_ANSWERED = {"DENY": "refused", "WARN": "warned of", "ASK": "left to its user:"}

LeaseRecord = (
    lanes.LeaseRenewed
    | lanes.LeaseReleased
    | lanes.LeaseRevoked
    | lanes.LeaseAdopted
    | lanes.LeaseRefused
    | fleet.DecisionForced
)
WorkerRecord = (
    fleet.SpawnIntended
    | fleet.RunMinted
    | fleet.RunBegun
    | fleet.UnitTaken
    | limits.UnitsScreened
    | limits.LandingQueued
    | limits.LandingDeferred
    | limits.RunUnparked
    | limits.AgentWentOn
    | limits.BudgetPromised
)
ApprovalRecord = (
    limits.PlansApproved | limits.SettingsApproved | limits.LaneCleared | limits.UnitCleared
)
DeclaredRunRecord = (
    runs.IntentDeclared
    | runs.ExtentChanged
    | runs.StepClaimed
    | runs.StepVerified
    | runs.RunSuspended
    | runs.ResumeProposed
    | runs.RunResumed
    | runs.RunEnded
    | runs.HaltProposed
)
# Of ids, the journal itself, hooks, imports and test runs.
OtherRecord = (
    fleet.IdAllocated
    | fleet.JournalPruned
    | fleet.HookFault
    | runs.LedgerLineUnreadable
    | runs.LineImported
    | runs.LineUnreadable
    | TestWitnessed
    | runs.CommandChecked
)
# Of hooks, exports and notifications.
DoorRecord = (
    doors.ToolCalled
    | doors.HookAnswered
    | doors.MarkerHeld
    | doors.MarkerReset
    | doors.SessionBound
    | doors.ExportAdvanced
    | doors.NotificationSent
    | doors.VerdictGiven
    | doors.LifecycleTicked
)
Record = LeaseRecord | WorkerRecord | ApprovalRecord | DeclaredRunRecord | DoorRecord | OtherRecord


def describe(record: Record) -> str:
    """Return the sentence for one of these events."""
    if isinstance(record, LeaseRecord):
        return _describe_lease(record)
    if isinstance(record, WorkerRecord):
        return _describe_worker(record)
    if isinstance(record, ApprovalRecord):
        return _describe_approval(record)
    if isinstance(record, DeclaredRunRecord):
        return _describe_declared_run(record)
    if isinstance(record, DoorRecord):
        return _describe_door(record)
    return _describe_other(record)


def _describe_lease(record: LeaseRecord) -> str:
    """Return the sentence of a change of a lease that `dos up` does not print."""
    match record:
        case lanes.LeaseRenewed():
            return "lease renewed"
        case lanes.LeaseReleased():
            return _with_reason("lease released", tokens.words(record.reason))
        case lanes.LeaseRevoked():
            return _with_reason("lease revoked", record.reason)
        case lanes.LeaseAdopted():
            return f"lease {record.previous} taken over by {record.asked.holder}"
        case lanes.LeaseRefused():
            return _with_reason(f"lane {record.lane} refused to {record.holder}", record.reason)
        case fleet.DecisionForced():
            return f"lane {record.lane} used with --force although it was refused: {record.reason}"
        case never:
            assert_never(never)


def _describe_worker(record: WorkerRecord) -> str:  # noqa: C901, PLR0911
    """Return the sentence of a step of a worker between its start and its landings.

    Most of them precede an event with a sentence of its own: a unit is reserved before its agent
    starts, a landing is queued before it is made.
    """
    match record:
        case fleet.SpawnIntended():
            return f"starting a worker on lane {record.lane}"
        case fleet.RunMinted():
            return f"run id {record.run_id} generated"
        case fleet.RunBegun():
            return f"run began at commit {record.start_sha[:9]}"
        case fleet.UnitTaken():
            return f"{record.unit} reserved for this run"
        case limits.UnitsScreened():
            counts = f"{len(record.offered)} can be taken, {len(record.held)} cannot"
            return f"looked for a unit: {counts}"
        case limits.LandingQueued():
            return f"{record.unit} waits for its turn to land on {record.branch}"
        case limits.LandingDeferred():
            return f"{record.unit} gave up its turn to land on {record.branch} and tries again"
        case limits.RunUnparked():
            return f"continues after a wait of {format_duration(record.seconds)}"
        case limits.AgentWentOn():
            return "agent works again: its provider answered"
        case limits.BudgetPromised():
            if not record.usd:
                return f"iteration {record.iteration} starts with no upper bound of its cost"
            return f"${record.usd:.2f} of the budget reserved for iteration {record.iteration}"
        case never:
            assert_never(never)


def _describe_approval(record: ApprovalRecord) -> str:
    """Return what a person approved or cleared, and who it was where that is recorded."""
    match record:
        case limits.PlansApproved():
            what = "plans on disk approved"
        case limits.SettingsApproved():
            what = "dos.toml on disk approved"
        case limits.LaneCleared():
            what = f"lane {record.lane} cleared to start again"
        case limits.UnitCleared():
            what = f"{record.unit} cleared to be tried again"
        case never:
            assert_never(never)
    if record.by:
        return f"{what} by {record.by}"
    return what


def _describe_declared_run(record: DeclaredRunRecord) -> str:  # noqa: PLR0911
    """Return the sentence of an event of a run that declared its work in steps."""
    match record:
        case runs.IntentDeclared():
            return f"work declared: {join_some(record.steps) or 'no steps'}"
        case runs.ExtentChanged():
            return f"declared work changed to {join_some(record.steps) or 'no steps'}"
        case runs.StepClaimed():
            return f"claimed that {record.step} is done"
        case runs.StepVerified():
            return f"git shows that {record.step} is done"
        case runs.RunSuspended():
            return _with_reason("suspended", record.reason)
        case runs.ResumeProposed():
            return f"can be resumed at commit {record.resume_sha[:9]}"
        case runs.RunResumed():
            return f"continued by run {record.successor}"
        case runs.RunEnded():
            return _with_reason(f"run ended as {record.result}", record.reason)
        case runs.HaltProposed():
            return _with_reason(f"halt of {record.handle} proposed", record.reason)
        case never:
            assert_never(never)


def _describe_door(record: DoorRecord) -> str:  # noqa: PLR0911
    """Return the sentence of an event of hooks, exports or notifications."""
    match record:
        case doors.ToolCalled():
            return f"agent used {show_name(record.tool)}"
        case doors.HookAnswered():
            tool = show_name(record.tool or record.moment)
            return _with_reason(
                f"{_ANSWERED.get(record.action, record.action)} {tool}", record.reason
            )
        case doors.MarkerHeld():
            return f"session {record.session} kept open"
        case doors.MarkerReset():
            return f"holds of session {record.session} reset"
        case doors.SessionBound():
            return f"session {record.session} works on lane {record.lane}"
        case doors.ExportAdvanced():
            return f"events up to {record.position} exported by {record.transport}"
        case doors.NotificationSent():
            return f"{record.transport} notified about {record.key}"
        case doors.VerdictGiven():
            subject = f" {record.subject}" if record.subject else ""
            return f"dos {record.syscall}{subject}: {record.verdict}"
        case doors.LifecycleTicked():
            moved = [move.plan for move in record.moves if move.outcome == "moved"]
            return f"plan classes checked; moved: {join_some(moved) or 'none'}"
        case never:
            assert_never(never)


def _describe_other(record: OtherRecord) -> str:
    """Return the sentence of an event that belongs to no run of the fleet."""
    match record:
        case fleet.IdAllocated():
            return f"id {record.id} of {record.scope} allocated"
        case fleet.JournalPruned():
            events = plural(record.removed, "superseded event")
            return f"journal pruned: {events} up to position {record.through} removed"
        case fleet.HookFault():
            return f"hook {record.moment} could not answer: {record.problem}"
        case runs.LineImported():
            return f"line {record.line} of {record.file} imported"
        case runs.LedgerLineUnreadable() | runs.LineUnreadable():
            return f"line {record.line} of {record.file} cannot be read"
        case runs.CommandChecked():
            verb = "passes" if record.passed else "fails"
            command = " ".join(record.command.split())
            return f"`{command}` {verb} on {record.commit[:9]}: {record.detail}"
        case TestWitnessed():
            return f"tests of {record.commit[:9]} run with and without the change: {record.verdict}"
        case never:
            assert_never(never)


def _with_reason(what: str, reason: str) -> str:
    """Return the text, with the reason after a colon where there is one."""
    if reason:
        return f"{what}: {reason}"
    return what
