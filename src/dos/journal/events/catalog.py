"""All kinds of facts. The set is closed: what is not here cannot be decoded, and changes no state."""

from typing import get_args

from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import (
    AgentEnded,
    AgentStarted,
    DecisionForced,
    DrainRequested,
    FleetStarted,
    FleetStopped,
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
from dos.journal.events.hooks import HookFault
from dos.journal.events.imports import LineImported, LineUnreadable
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
from dos.journal.events.proofs import TestWitnessed
from dos.journal.events.receipts import ReceiptIssued
from dos.journal.events.runs import (
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
