"""The facts that change the fleet's state, grouped by what they are about."""

from dos.journal.events import fleet, lanes, limits
from dos.journal.events.reader import FactReader

StartFact = (
    fleet.SpawnIntended
    | fleet.WorkerSpawned
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | limits.LaneCleared
    | fleet.FleetStarted
    | lanes.LeaseGranted
)
RequestFact = (
    fleet.DrainRequested
    | limits.PauseRequested
    | limits.PauseEnded
    | limits.HaltRequested
    | limits.LimitHit
    | limits.LimitLifted
    | limits.UnitCleared
    | limits.DecisionAnswered
    | limits.IncidentFound
)
WorkFact = (
    fleet.UnitClaimed
    | fleet.AgentEnded
    | fleet.UnitAttempted
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.WorkSalvaged
)
RunFact = (
    fleet.RunBegun
    | fleet.AgentStarted
    | limits.RunParked
    | limits.RunUnparked
    | limits.SpinFlagged
    | fleet.IterationCommitted
    | fleet.RunStopped
    | limits.FleetFound
)
FleetFact = StartFact | RequestFact | WorkFact | RunFact | limits.BudgetPromised
reader: FactReader[FleetFact] = FactReader(
    FleetFact,
    silent="""
        lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        fleet_stopped decision_forced run_minted unit_taken id_allocated journal_pruned
        limit_probed units_screened landing_queued landing_deferred agent_waiting agent_went_on
        decision_raised plans_approved settings_approved budget_warned budget_spent
        baseline_started baseline_checked work_committed intent_declared extent_changed
        step_claimed step_verified run_suspended resume_proposed run_resumed run_ended
        halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        line_imported line_unreadable
    """,
)
