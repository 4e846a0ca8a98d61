"""Every kind of event, and how events that older versions wrote are brought up to date.

The set is closed: an event whose kind is not listed here is not decoded and changes no state.
"""

from collections.abc import Callable
from typing import Any, get_args

from msgspec import structs

from dos.journal.events.doors import (
    ExportAdvanced,
    HookAnswered,
    LifecycleTicked,
    MarkerHeld,
    MarkerReset,
    NotificationSent,
    RunSteered,
    SessionBound,
    SteerDelivered,
    ToolCalled,
    VerdictGiven,
)
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import (
    AgentEnded,
    AgentStarted,
    DecisionForced,
    DrainRequested,
    FleetStarted,
    FleetStopped,
    HookFault,
    IdAllocated,
    IterationCommitted,
    JournalPruned,
    LandingIntended,
    LandingRefused,
    LaneFailed,
    RunBegun,
    RunMinted,
    RunStopped,
    SpawnIntended,
    UnitAttempted,
    UnitClaimed,
    UnitLanded,
    UnitTaken,
    WorkerReaped,
    WorkerSpawned,
    WorkMeasured,
    WorkSalvaged,
)
from dos.journal.events.lanes import (
    LeaseAdopted,
    LeaseExpired,
    LeaseGranted,
    LeaseRefused,
    LeaseReleased,
    LeaseRenewed,
    LeaseRevoked,
)
from dos.journal.events.limits import (
    AgentWaiting,
    AgentWentOn,
    BaselineChecked,
    BaselineStarted,
    BudgetPromised,
    BudgetSpent,
    BudgetWarned,
    DecisionAnswered,
    DecisionRaised,
    FleetFound,
    HaltRequested,
    IncidentFound,
    LandingDeferred,
    LandingQueued,
    LaneCleared,
    LimitHit,
    LimitLifted,
    LimitProbed,
    PauseEnded,
    PauseRequested,
    PlansApproved,
    RunParked,
    RunUnparked,
    SettingsApproved,
    SpinFlagged,
    UnitCleared,
    UnitsScreened,
    WorkCommitted,
)
from dos.journal.events.runs import (
    CommandChecked,
    ExtentChanged,
    HaltProposed,
    IntentDeclared,
    LedgerLineUnreadable,
    LineImported,
    LineUnreadable,
    ReceiptIssued,
    ResumeProposed,
    RunEnded,
    RunResumed,
    RunSuspended,
    StepClaimed,
    StepVerified,
    TestWitnessed,
)

AnyFact = (
    LeaseGranted
    | LeaseRenewed
    | LeaseReleased
    | LeaseExpired
    | LeaseRevoked
    | LeaseAdopted
    | LeaseRefused
    | SpawnIntended
    | WorkerSpawned
    | WorkerReaped
    | LaneFailed
    | DrainRequested
    | FleetStarted
    | FleetStopped
    | DecisionForced
    | RunMinted
    | RunBegun
    | UnitClaimed
    | UnitTaken
    | WorkSalvaged
    | AgentStarted
    | AgentEnded
    | WorkMeasured
    | LandingIntended
    | UnitLanded
    | LandingRefused
    | UnitAttempted
    | IterationCommitted
    | RunStopped
    | IdAllocated
    | JournalPruned
    | LimitHit
    | LimitProbed
    | LimitLifted
    | UnitsScreened
    | RunParked
    | LandingQueued
    | LandingDeferred
    | RunUnparked
    | AgentWaiting
    | AgentWentOn
    | PauseRequested
    | PauseEnded
    | HaltRequested
    | SpinFlagged
    | DecisionRaised
    | DecisionAnswered
    | PlansApproved
    | SettingsApproved
    | LaneCleared
    | UnitCleared
    | BudgetWarned
    | BudgetSpent
    | BudgetPromised
    | BaselineStarted
    | BaselineChecked
    | WorkCommitted
    | FleetFound
    | IncidentFound
    | IntentDeclared
    | ExtentChanged
    | StepClaimed
    | StepVerified
    | RunSuspended
    | ResumeProposed
    | RunResumed
    | RunEnded
    | HaltProposed
    | LedgerLineUnreadable
    | HookFault
    | ToolCalled
    | HookAnswered
    | RunSteered
    | SteerDelivered
    | MarkerHeld
    | MarkerReset
    | SessionBound
    | ExportAdvanced
    | NotificationSent
    | VerdictGiven
    | LifecycleTicked
    | ReceiptIssued
    | TestWitnessed
    | CommandChecked
    | LineImported
    | LineUnreadable
)

# Every class of event by the kind under which it is stored.
KINDS: dict[str, type[Fact]] = {fact.kind: fact for fact in get_args(AnyFact)}

# Older versions kept some facts only in a sentence or in the event's key. The functions below move
# them to the fields that hold them now; no other code reads those sentences.
_EARLIER = "left by an earlier run"
_WATCHDOG = "watchdog"


def _upgrade_work_salvaged(fact: WorkSalvaged, _event: Event) -> WorkSalvaged:
    """Set `earlier`, which was the beginning of `why`."""
    if fact.earlier or not fact.why.startswith(_EARLIER):
        return fact
    return structs.replace(fact, earlier=True)


def _upgrade_fleet_found(fact: FleetFound, _event: Event) -> FleetFound:
    """Set `adopted_lanes` from lines that name the lane before its holder: `api: host:12`."""
    if not fact.adopted or fact.adopted_lanes:
        return fact
    lanes = [line.rpartition(": ")[0] for line in fact.adopted]
    return structs.replace(fact, adopted_lanes=lanes)


def _upgrade_limit_hit(fact: LimitHit, _event: Event) -> LimitHit:
    """Set `login_host`, which was written before the digest: `host/0123`."""
    if not fact.login or fact.login_host:
        return fact
    host, _, digest = fact.login.rpartition("/")
    return structs.replace(fact, login=digest, login_host=host)


def _upgrade_halt_proposed(fact: HaltProposed, event: Event) -> HaltProposed:
    """Set `moved_ms`, which was only in the event's key: `watchdog/1700000000000/0`."""
    if fact.moved_ms is not None or fact.owner != _WATCHDOG or not event.key:
        return fact
    _, _, rest = event.key.partition("/")
    moved_ms = rest.partition("/")[0]
    if not moved_ms.isdecimal():
        return fact
    return structs.replace(fact, moved_ms=int(moved_ms))


# By kind: what to apply to a decoded event of that kind.
UPGRADES: dict[str, Callable[[Any, Event], Any]] = {
    WorkSalvaged.kind: _upgrade_work_salvaged,
    FleetFound.kind: _upgrade_fleet_found,
    LimitHit.kind: _upgrade_limit_hit,
    HaltProposed.kind: _upgrade_halt_proposed,
}
