"""All kinds of facts. The set is closed: what is not here cannot be decoded, and changes no state."""

from typing import get_args

from dos.journal.engine_events import (
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
from dos.journal.events import (
    AgentEnded,
    AgentStarted,
    DecisionForced,
    DrainRequested,
    Fact,
    FleetStarted,
    FleetStopped,
    IdAllocated,
    IterationCommitted,
    JournalPruned,
    LandingIntended,
    LandingRefused,
    LaneFailed,
    LeaseAdopted,
    LeaseExpired,
    LeaseGranted,
    LeaseRefused,
    LeaseReleased,
    LeaseRenewed,
    LeaseRevoked,
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
from dos.journal.hook_events import HookFault
from dos.journal.old_logs.import_events import LineImported, LineUnreadable
from dos.journal.run_events import (
    ExtentChanged,
    HaltProposed,
    IntentDeclared,
    LedgerLineUnreadable,
    ResumeProposed,
    RunEnded,
    RunResumed,
    RunSuspended,
    StepClaimed,
    StepVerified,
)
from dos.journal.truth.receipt_events import ReceiptIssued
from dos.journal.truth.witness_events import TestWitnessed

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
