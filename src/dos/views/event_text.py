"""What people are told of an event: one sentence for each kind, whatever shows it.

A surface adds when and where it happened, and decides what it shows.
"""

from typing import assert_never

from dos.journal import engine_events, events, run_events
from dos.journal.facts.catalog import AnyFact
from dos.journal.hook_events import HookFault
from dos.journal.old_logs.import_events import LineImported, LineUnreadable
from dos.journal.truth.receipt_events import ReceiptIssued
from dos.journal.truth.witness_events import TestWitnessed
from dos.plans import tokens
from dos.plans.limits import quota
from dos.plans.limits.quota import Key, Limit
from dos.records import logins
from dos.records.endings import Ending
from dos.records.moments import local_clock, moment
from dos.records.names import counted
from dos.verdicts.work.baselines import NOTHING_TO_EMPTY

CRASHED: dict[str, str] = {
    Ending.CRASH: "crashed",
    Ending.KILLED: "was killed",
    Ending.HANG: "hung and was stopped",
    Ending.LAUNCH_FAILED: "failed to start",
    Ending.UNKNOWN: "ended for an unknown reason",
}

OfFleet = (
    events.FleetStarted
    | events.FleetStopped
    | events.DrainRequested
    | events.WorkerSpawned
    | events.WorkerReaped
    | events.LaneFailed
    | events.LeaseGranted
    | events.LeaseExpired
    | engine_events.FleetFound
    | engine_events.BaselineStarted
    | engine_events.BaselineChecked
)
_OfWork = (
    events.UnitClaimed
    | events.AgentStarted
    | events.AgentEnded
    | events.WorkMeasured
    | events.LandingIntended
    | events.LandingRefused
    | events.UnitLanded
    | events.UnitAttempted
    | ReceiptIssued
    | engine_events.WorkCommitted
    | events.WorkSalvaged
    | events.IterationCommitted
    | events.RunStopped
)
OfWaiting = (
    engine_events.LimitHit
    | engine_events.LimitProbed
    | engine_events.LimitLifted
    | engine_events.RunParked
    | engine_events.AgentWaiting
    | engine_events.PauseRequested
    | engine_events.PauseEnded
    | engine_events.HaltRequested
    | engine_events.SpinFlagged
    | engine_events.IncidentFound
    | engine_events.DecisionRaised
    | engine_events.DecisionAnswered
    | engine_events.BudgetWarned
    | engine_events.BudgetSpent
)
# Their kinds say all that there is to say.
_ByKind = (
    events.LeaseRenewed
    | events.LeaseReleased
    | events.LeaseRevoked
    | events.LeaseAdopted
    | events.LeaseRefused
    | events.SpawnIntended
    | events.DecisionForced
    | events.RunMinted
    | events.RunBegun
    | events.UnitTaken
    | events.IdAllocated
    | events.JournalPruned
    | engine_events.UnitsScreened
    | engine_events.LandingQueued
    | engine_events.LandingDeferred
    | engine_events.RunUnparked
    | engine_events.AgentWentOn
    | engine_events.PlansApproved
    | engine_events.SettingsApproved
    | engine_events.LaneCleared
    | engine_events.UnitCleared
    | engine_events.BudgetPromised
    | run_events.IntentDeclared
    | run_events.ExtentChanged
    | run_events.StepClaimed
    | run_events.StepVerified
    | run_events.RunSuspended
    | run_events.ResumeProposed
    | run_events.RunResumed
    | run_events.RunEnded
    | run_events.HaltProposed
    | run_events.LedgerLineUnreadable
    | HookFault
    | TestWitnessed
    | LineImported
    | LineUnreadable
)


def text(fact: AnyFact, at_ms: int) -> str:
    """The sentence for a fact that was written at this time."""
    if isinstance(fact, OfFleet):
        return _of_fleet(fact)
    if isinstance(fact, _OfWork):
        return _of_work(fact)
    if isinstance(fact, OfWaiting):
        return _of_waiting(fact, at_ms)
    return _by_kind(fact)


def _by_kind(fact: _ByKind) -> str:
    return of_kind(fact.kind)


def of_kind(kind: str) -> str:
    """Where nothing but the kind is known, or to be said."""
    return kind.replace("_", " ")


def _of_fleet(fact: OfFleet) -> str:
    match fact:
        case events.FleetStarted():
            return f"started on {fact.host}: {counted(fact.target, 'worker')} wanted"
        case events.FleetStopped():
            return f"stopped: {fact.reason}"
        case events.DrainRequested():
            return "asked to drain"
        case events.WorkerSpawned():
            return f"worker {fact.pid} started"
        case events.WorkerReaped():
            return f"its worker died: {fact.reason}"
        case events.LaneFailed():
            return f"given up on until a person looks: {fact.reason}"
        case events.LeaseGranted():
            return "lease granted" if fact.asked.is_lock else "lane leased"
        case events.LeaseExpired():
            return f"fence {fact.lease} ran out and was taken over"
        case engine_events.FleetFound():
            return f"found {_found(fact)}"
        case engine_events.BaselineStarted():
            return f"checking that `{_first_line(fact.command)}` passes on {fact.branch} …"
        case engine_events.BaselineChecked():
            return _baseline(fact)
        case never:
            assert_never(never)


def _of_work(fact: _OfWork) -> str:
    match fact:
        case events.UnitClaimed():
            return f"took {fact.unit}{' again, after a crash' if fact.repeated else ''}"
        case events.AgentStarted():
            return f"{fact.unit}: {fact.said}" if fact.said else f"agent {fact.agent} started on {fact.unit}"
        case events.AgentEnded():
            return agent_ended(fact) + (f" and said {fact.claim!r}" if fact.claim else "")
        case events.WorkMeasured():
            is_delivered = fact.verdict == "DELIVERED"
            return (
                f"measured {fact.unit}: {fact.reason}" if is_delivered else f"{fact.unit} not delivered: {fact.reason}"
            )
        case events.LandingIntended():
            return f"about to land {fact.unit} on {fact.branch}"
        case events.LandingRefused():
            return f"{fact.unit} not landed: {_first_line(fact.reason)}"
        case events.UnitLanded():
            how = "found landed" if fact.recognised else "landed"
            return f"{fact.unit} {how} on {fact.branch} as {fact.commit[:9]}"
        case events.UnitAttempted():
            return f"the try at {fact.unit} counts as {fact.outcome}"
        case ReceiptIssued():
            return f"{fact.unit}: {fact.said}" if fact.said else "receipt issued"
        case engine_events.WorkCommitted():
            return f"{fact.unit}: its agent left the work uncommitted; judged as {fact.commit[:9]}"
        case events.WorkSalvaged():
            return f"saved to {fact.ref} ({fact.why})"
        case events.IterationCommitted():
            return f"iteration {fact.iteration}: {decided(fact.outcome, fact.action, fact.reason)}"
        case events.RunStopped():
            return stopped(fact.stop_reason, fact.reason, fact.needs)
        case never:
            assert_never(never)


def _of_waiting(fact: OfWaiting, at_ms: int) -> str:
    match fact:
        case engine_events.LimitHit():
            return _limited(fact, at_ms)
        case engine_events.LimitProbed():
            return f"goes first to see whether {fact.vendor} has room again"
        case engine_events.LimitLifted():
            return f"{fact.vendor} is used again: {fact.reason}"
        case engine_events.RunParked():
            until = f" until {_clock(fact.until_ms, at_ms)}" if fact.until_ms else ""
            return f"waits on {fact.why}{until}: {fact.detail}"
        case engine_events.AgentWaiting():
            return f"its agent waits for its provider ({fact.ending}): {fact.detail}"
        case engine_events.PauseRequested():
            return f"paused: {fact.reason or 'by a person'}"
        case engine_events.PauseEnded():
            return "goes on"
        case engine_events.HaltRequested():
            return f"{fact.run_id} is to stop: {fact.reason or 'by a person'}"
        case engine_events.SpinFlagged():
            return f"spins: {fact.reason}"
        case engine_events.IncidentFound():
            return f"incident: {incident(fact)}"
        case engine_events.DecisionRaised():
            return f"{fact.question}  `dos decisions show {fact.id}`"
        case engine_events.DecisionAnswered():
            return f"{fact.id}: {fact.choice}{' (nobody answered in time)' if fact.expired else ''}"
        case engine_events.BudgetWarned():
            return f"nearly spent: {_budget(fact)}"
        case engine_events.BudgetSpent():
            return f"spent: {_budget(fact)}"
        case never:
            assert_never(never)


def agent_ended(fact: events.AgentEnded) -> str:
    return f"agent {CRASHED.get(fact.outcome, fact.outcome)} after {fact.seconds:.1f} s"


def decided(outcome: str, action: str, reason: str) -> str:
    """How an iteration ended, and what was decided."""
    return f"{tokens.iteration_words(outcome)}; {tokens.words(action)}, {reason}"


def stopped(stop_reason: str, reason: str, needs: str) -> str:
    """Why a run stopped, and who can clear it."""
    return f"stopped: {tokens.words(stop_reason)} ({reason}); needs {needs}"


def incident(fact: engine_events.IncidentFound) -> str:
    return f"{fact.found}; it counts as no landing"


def _budget(fact: engine_events.BudgetWarned | engine_events.BudgetSpent) -> str:
    return f"{fact.scope} {fact.subject}: {fact.spent:g} of {fact.limit:g} {fact.measure}"


def _baseline(fact: engine_events.BaselineChecked) -> str:
    command = f"`{_first_line(fact.command)}`"
    missing = "".join(f"; the acceptance command of {unit} cannot run: {why}" for unit, why in fact.missing.items())
    if not fact.passed:
        return f"{command} fails on {fact.branch} ({fact.commit[:9]}) after {fact.seconds:.1f} s: {fact.reason}"
    if fact.sees_tree is False:
        emptied = counted(fact.blanked, "source file")
        return f"{command} passes on {fact.branch} also with {emptied} emptied: it does not see the tree it is run in"
    untried = f"; {NOTHING_TO_EMPTY}" if fact.sees_tree is None else ""
    return f"{command} passes on {fact.branch} ({fact.seconds:.1f} s){untried}{missing}"


def _found(fact: engine_events.FleetFound) -> str:
    words = {
        "adopted": "live, left alone",
        "fenced": "dead, taken back",
        "resumed": "goes on after what was committed",
        "repeated": "begun and not committed, done again",
    }
    parts = [f"{word}: {', '.join(getattr(fact, name))}" for name, word in words.items() if getattr(fact, name)]
    parts += [f"{len(fact.skipped)} landed already, skipped"] if fact.skipped else []
    return "; ".join(parts)


def _first_line(text: str) -> str:
    """A conflict is told at length, for the next agent."""
    return text.partition("\n")[0]


def _limited(fact: engine_events.LimitHit, at_ms: int) -> str:
    """What the provider said, until when, and what logs in where that is what it takes."""
    limit = Limit(
        key=Key(vendor=fact.vendor, account=fact.account, model=fact.model), ending=fact.ending, agent=fact.agent
    )
    if fact.ending == Ending.AUTH:
        login = logins.command(fact.vendor)
        return f"{quota.said(limit)}" + (f"; log in with `{login}`" if login else "")
    until = f" until {_clock(fact.resets_at_ms, at_ms)}" if fact.resets_at_ms else ""
    return f"{quota.said(limit)}{until}; the lanes that use it wait"


def _clock(at_ms: int, now_ms: int) -> str:
    return local_clock(moment(at_ms), moment(now_ms), seconds=True)
