"""What people are told of an event: one sentence for each kind, whatever shows it.

A surface adds when and where it happened, and decides what it shows.
"""

from typing import assert_never

from dos.agents import logins
from dos.agents.adapter import Ending
from dos.journal.events import fleet, lanes, limits, runs
from dos.journal.events.catalog import AnyFact
from dos.journal.events.fleet import HookFault
from dos.journal.events.proofs import ReceiptIssued, TestWitnessed
from dos.journal.events.runs import LineImported, LineUnreadable
from dos.limits import quota
from dos.limits.quota import Key, Limit
from dos.loop import tokens
from dos.text import plural
from dos.times import format_local_time, utc_datetime
from dos.verify.baseline import NOTHING_TO_EMPTY

CRASHED: dict[str, str] = {
    Ending.CRASH: "crashed",
    Ending.KILLED: "was killed",
    Ending.HANG: "hung and was stopped",
    Ending.LAUNCH_FAILED: "failed to start",
    Ending.UNKNOWN: "ended for an unknown reason",
}

FleetFact = (
    fleet.FleetStarted
    | fleet.FleetStopped
    | fleet.DrainRequested
    | fleet.WorkerSpawned
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | lanes.LeaseGranted
    | lanes.LeaseExpired
    | limits.FleetFound
    | limits.BaselineStarted
    | limits.BaselineChecked
)
WorkFact = (
    fleet.UnitClaimed
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.UnitAttempted
    | ReceiptIssued
    | limits.WorkCommitted
    | fleet.WorkSalvaged
    | fleet.IterationCommitted
    | fleet.RunStopped
)
WaitingFact = (
    limits.LimitHit
    | limits.LimitProbed
    | limits.LimitLifted
    | limits.RunParked
    | limits.AgentWaiting
    | limits.PauseRequested
    | limits.PauseEnded
    | limits.HaltRequested
    | limits.SpinFlagged
    | limits.IncidentFound
    | limits.DecisionRaised
    | limits.DecisionAnswered
    | limits.BudgetWarned
    | limits.BudgetSpent
)
# Their kinds say all that there is to say.
PlainFact = (
    lanes.LeaseRenewed
    | lanes.LeaseReleased
    | lanes.LeaseRevoked
    | lanes.LeaseAdopted
    | lanes.LeaseRefused
    | fleet.SpawnIntended
    | fleet.DecisionForced
    | fleet.RunMinted
    | fleet.RunBegun
    | fleet.UnitTaken
    | fleet.IdAllocated
    | fleet.JournalPruned
    | limits.UnitsScreened
    | limits.LandingQueued
    | limits.LandingDeferred
    | limits.RunUnparked
    | limits.AgentWentOn
    | limits.PlansApproved
    | limits.SettingsApproved
    | limits.LaneCleared
    | limits.UnitCleared
    | limits.BudgetPromised
    | runs.IntentDeclared
    | runs.ExtentChanged
    | runs.StepClaimed
    | runs.StepVerified
    | runs.RunSuspended
    | runs.ResumeProposed
    | runs.RunResumed
    | runs.RunEnded
    | runs.HaltProposed
    | runs.LedgerLineUnreadable
    | HookFault
    | TestWitnessed
    | LineImported
    | LineUnreadable
)


def describe(fact: AnyFact, at_ms: int) -> str:
    """The sentence for a fact that was written at this time."""
    if isinstance(fact, FleetFact):
        return _describe_fleet(fact)
    if isinstance(fact, WorkFact):
        return _describe_work(fact)
    if isinstance(fact, WaitingFact):
        return _describe_waiting(fact, at_ms)
    return _by_kind(fact)


def _by_kind(fact: PlainFact) -> str:
    return describe_kind(fact.kind)


def describe_kind(kind: str) -> str:
    """Where nothing but the kind is known, or to be said."""
    return kind.replace("_", " ")


def _describe_fleet(fact: FleetFact) -> str:
    match fact:
        case fleet.FleetStarted():
            return f"started on {fact.host}: {plural(fact.target, 'worker')} wanted"
        case fleet.FleetStopped():
            return f"stopped: {fact.reason}"
        case fleet.DrainRequested():
            return "asked to drain"
        case fleet.WorkerSpawned():
            return f"worker {fact.pid} started"
        case fleet.WorkerReaped():
            return f"its worker died: {fact.reason}"
        case fleet.LaneFailed():
            return f"given up on until a person looks: {fact.reason}"
        case lanes.LeaseGranted():
            return "lease granted" if fact.asked.is_lock else "lane leased"
        case lanes.LeaseExpired():
            return f"fence {fact.lease} ran out and was taken over"
        case limits.FleetFound():
            return f"found {_describe_recovery(fact)}"
        case limits.BaselineStarted():
            return f"checking that `{_first_line(fact.command)}` passes on {fact.branch} …"
        case limits.BaselineChecked():
            return _baseline(fact)
        case never:
            assert_never(never)


def _describe_work(fact: WorkFact) -> str:
    match fact:
        case fleet.UnitClaimed():
            return f"took {fact.unit}{' again, after a crash' if fact.repeated else ''}"
        case fleet.AgentStarted():
            return (
                f"{fact.unit}: {fact.said}"
                if fact.said
                else f"agent {fact.agent} started on {fact.unit}"
            )
        case fleet.AgentEnded():
            return describe_agent_end(fact) + (f" and said {fact.claim!r}" if fact.claim else "")
        case fleet.WorkMeasured():
            is_delivered = fact.verdict == "DELIVERED"
            return (
                f"measured {fact.unit}: {fact.reason}"
                if is_delivered
                else f"{fact.unit} not delivered: {fact.reason}"
            )
        case fleet.LandingIntended():
            return f"about to land {fact.unit} on {fact.branch}"
        case fleet.LandingRefused():
            return f"{fact.unit} not landed: {_first_line(fact.reason)}"
        case fleet.UnitLanded():
            how = "found landed" if fact.recognised else "landed"
            return f"{fact.unit} {how} on {fact.branch} as {fact.commit[:9]}"
        case fleet.UnitAttempted():
            return f"the try at {fact.unit} counts as {fact.outcome}"
        case ReceiptIssued():
            return f"{fact.unit}: {fact.said}" if fact.said else "receipt issued"
        case limits.WorkCommitted():
            return f"{fact.unit}: its agent left the work uncommitted; judged as {fact.commit[:9]}"
        case fleet.WorkSalvaged():
            return f"saved to {fact.ref} ({fact.why})"
        case fleet.IterationCommitted():
            return f"iteration {fact.iteration}: {describe_decision(fact.outcome, fact.action, fact.reason)}"
        case fleet.RunStopped():
            return describe_stop(fact.stop_reason, fact.reason, fact.needs)
        case never:
            assert_never(never)


def _describe_waiting(fact: WaitingFact, at_ms: int) -> str:
    match fact:
        case limits.LimitHit():
            return _describe_limit(fact, at_ms)
        case limits.LimitProbed():
            return f"goes first to see whether {fact.vendor} has room again"
        case limits.LimitLifted():
            return f"{fact.vendor} is used again: {fact.reason}"
        case limits.RunParked():
            until = f" until {_clock(fact.until_ms, at_ms)}" if fact.until_ms else ""
            return f"waits on {fact.why}{until}: {fact.detail}"
        case limits.AgentWaiting():
            return f"its agent waits for its provider ({fact.ending}): {fact.detail}"
        case limits.PauseRequested():
            return f"paused: {fact.reason or 'by a person'}"
        case limits.PauseEnded():
            return "goes on"
        case limits.HaltRequested():
            return f"{fact.run_id} is to stop: {fact.reason or 'by a person'}"
        case limits.SpinFlagged():
            return f"spins: {fact.reason}"
        case limits.IncidentFound():
            return f"incident: {describe_incident(fact)}"
        case limits.DecisionRaised():
            return f"{fact.question}  `dos decisions show {fact.id}`"
        case limits.DecisionAnswered():
            return f"{fact.id}: {fact.choice}{' (nobody answered in time)' if fact.expired else ''}"
        case limits.BudgetWarned():
            return f"nearly spent: {_budget(fact)}"
        case limits.BudgetSpent():
            return f"spent: {_budget(fact)}"
        case never:
            assert_never(never)


def describe_agent_end(fact: fleet.AgentEnded) -> str:
    return f"agent {CRASHED.get(fact.outcome, fact.outcome)} after {fact.seconds:.1f} s"


def describe_decision(outcome: str, action: str, reason: str) -> str:
    """How an iteration ended, and what was decided."""
    return f"{tokens.iteration_words(outcome)}; {tokens.words(action)}, {reason}"


def describe_stop(stop_reason: str, reason: str, needs: str) -> str:
    """Why a run stopped, and who can clear it."""
    return f"stopped: {tokens.words(stop_reason)} ({reason}); needs {needs}"


def describe_incident(fact: limits.IncidentFound) -> str:
    return f"{fact.found}; it counts as no landing"


def _budget(fact: limits.BudgetWarned | limits.BudgetSpent) -> str:
    return f"{fact.scope} {fact.subject}: {fact.spent:g} of {fact.limit:g} {fact.measure}"


def _baseline(fact: limits.BaselineChecked) -> str:
    command = f"`{_first_line(fact.command)}`"
    missing = "".join(
        f"; the acceptance command of {unit} cannot run: {why}"
        for unit, why in fact.missing.items()
    )
    if not fact.passed:
        return f"{command} fails on {fact.branch} ({fact.commit[:9]}) after {fact.seconds:.1f} s: {fact.reason}"
    if fact.sees_tree is False:
        emptied = plural(fact.blanked, "source file")
        return f"{command} passes on {fact.branch} also with {emptied} emptied: it does not see the tree it is run in"
    untried = f"; {NOTHING_TO_EMPTY}" if fact.sees_tree is None else ""
    return f"{command} passes on {fact.branch} ({fact.seconds:.1f} s){untried}{missing}"


def _describe_recovery(fact: limits.FleetFound) -> str:
    words = {
        "adopted": "live, left alone",
        "fenced": "dead, taken back",
        "resumed": "goes on after what was committed",
        "repeated": "begun and not committed, done again",
    }
    parts = [
        f"{word}: {', '.join(getattr(fact, name))}"
        for name, word in words.items()
        if getattr(fact, name)
    ]
    parts += [f"{len(fact.skipped)} landed already, skipped"] if fact.skipped else []
    return "; ".join(parts)


def _first_line(text: str) -> str:
    """A conflict is told at length, for the next agent."""
    return text.partition("\n")[0]


def _describe_limit(fact: limits.LimitHit, at_ms: int) -> str:
    """What the provider said, until when, and what logs in where that is what it takes."""
    limit = Limit(
        key=Key(vendor=fact.vendor, account=fact.account, model=fact.model),
        ending=fact.ending,
        agent=fact.agent,
    )
    if fact.ending == Ending.AUTH:
        login = logins.login_command(fact.vendor)
        return f"{quota.describe(limit)}" + (f"; log in with `{login}`" if login else "")
    until = f" until {_clock(fact.resets_at_ms, at_ms)}" if fact.resets_at_ms else ""
    return f"{quota.describe(limit)}{until}; the lanes that use it wait"


def _clock(at_ms: int, now_ms: int) -> str:
    return format_local_time(utc_datetime(at_ms), utc_datetime(now_ms), seconds=True)
