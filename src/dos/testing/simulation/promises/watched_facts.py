"""Which facts a simulation holds against its invariants, and which of them may change what there is to work on."""

from dos.journal import engine_events, events
from dos.journal.facts.reader import FactReader
from dos.journal.states import leases

OfStarts = (
    events.SpawnIntended
    | events.WorkerReaped
    | events.FleetStarted
    | events.FleetStopped
    | events.LaneFailed
    | engine_events.PauseEnded
    | engine_events.LaneCleared
)
OfRuns = (
    events.AgentStarted
    | events.AgentEnded
    | events.IterationCommitted
    | events.LandingIntended
    | events.RunBegun
    | events.UnitLanded
    | events.RunStopped
)
OfQuestions = engine_events.DecisionRaised | engine_events.DecisionAnswered
Checked = leases.Handled | OfStarts | OfRuns | OfQuestions
checked: FactReader[Checked] = FactReader(
    Checked,
    silent="""
        lease_refused worker_spawned drain_requested decision_forced run_minted unit_claimed unit_taken
        work_salvaged work_measured landing_refused unit_attempted id_allocated journal_pruned limit_hit
        limit_probed limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested halt_requested spin_flagged plans_approved settings_approved
        unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified run_suspended
        resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued
        test_witnessed line_imported line_unreadable
    """,
)

Offering = (
    events.UnitClaimed
    | events.UnitAttempted
    | events.AgentEnded
    | events.WorkMeasured
    | events.LandingIntended
    | events.LandingRefused
    | events.UnitLanded
    | events.IterationCommitted
    | events.FleetStarted
    | engine_events.DecisionRaised
    | engine_events.DecisionAnswered
    | engine_events.UnitCleared
)
offering: FactReader[Offering] = FactReader(
    Offering,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_stopped decision_forced
        run_minted run_begun unit_taken work_salvaged agent_started run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked landing_queued landing_deferred
        run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        plans_approved settings_approved lane_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found incident_found intent_declared
        extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed run_ended
        halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)
