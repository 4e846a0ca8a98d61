"""All kinds of facts. The set is closed: what is not here cannot be decoded, and changes no state."""

from collections.abc import Callable
from typing import Any, get_args

from msgspec import structs

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
from dos.journal.events.proofs import ReceiptIssued, TestWitnessed
from dos.journal.events.runs import (
    ExtentChanged,
    HaltProposed,
    IntentDeclared,
    LedgerLineUnreadable,
    LineImported,
    LineUnreadable,
    ResumeProposed,
    RunEnded,
    RunResumed,
    RunSuspended,
    StepClaimed,
    StepVerified,
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
    | ReceiptIssued
    | TestWitnessed
    | LineImported
    | LineUnreadable
)

KINDS: dict[str, type[Fact]] = {fact.kind: fact for fact in get_args(AnyFact)}


_EARLIER = "left by an earlier run"
_WATCHDOG = "watchdog"


def _work_salvaged(fact: WorkSalvaged, event: Event) -> WorkSalvaged:
    """`why` began with whose work it was."""
    was_earlier = fact.why.startswith(_EARLIER)
    return structs.replace(fact, earlier=True) if was_earlier and not fact.earlier else fact


def _fleet_found(fact: FleetFound, event: Event) -> FleetFound:
    """The lanes stood before their holders: `api: host:12`."""
    if not fact.adopted or fact.adopted_lanes:
        return fact
    return structs.replace(fact, adopted_lanes=[line.rpartition(": ")[0] for line in fact.adopted])


def _limit_hit(fact: LimitHit, event: Event) -> LimitHit:
    """The host stood before the digest: `host/0123`."""
    if not fact.login or fact.login_host:
        return fact
    host, _, digest = fact.login.rpartition("/")
    return structs.replace(fact, login=digest, login_host=host)


def _halt_proposed(fact: HaltProposed, event: Event) -> HaltProposed:
    """When the run had moved last stood in the key alone: `watchdog/1700000000000/0`."""
    if fact.moved_ms is not None or fact.owner != _WATCHDOG or not event.key:
        return fact
    _, _, rest = event.key.partition("/")
    moved_ms = rest.partition("/")[0]
    return structs.replace(fact, moved_ms=int(moved_ms)) if moved_ms.isdecimal() else fact


UPGRADES: dict[str, Callable[[Any, Event], Any]] = {  # by kind
    WorkSalvaged.kind: _work_salvaged,
    FleetFound.kind: _fleet_found,
    LimitHit.kind: _limit_hit,
    HaltProposed.kind: _halt_proposed,
}
