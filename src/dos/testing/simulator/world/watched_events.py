"""The events that the invariant checker examines, and those that can change the open units.

`silent` lists every other kind; a test fails on a kind that is in neither, so that a new kind of
event has to be placed.
"""

from dos.journal import lease_state
from dos.journal.events import fleet, limits, runs
from dos.journal.events.reader import FactReader

# Of the lanes: which worker is started, and when the count of starts begins anew.
OfStarts = (
    fleet.SpawnIntended
    | fleet.WorkerReaped
    | fleet.FleetStarted
    | fleet.FleetStopped
    | fleet.LaneFailed
    | limits.PauseEnded
    | limits.LaneCleared
)
# Of the runs: agents, decisions, landings and the end.
OfRuns = (
    fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.IterationCommitted
    | fleet.LandingIntended
    | fleet.RunBegun
    | fleet.UnitLanded
    | fleet.RunStopped
    | runs.ReceiptIssued
)
OfQuestions = limits.DecisionRaised | limits.DecisionAnswered
Checked = lease_state.Handled | OfStarts | OfRuns | OfQuestions
checked: FactReader[Checked] = FactReader(
    Checked,
    silent="""
        lease_refused worker_spawned drain_requested decision_forced run_minted unit_claimed
        unit_taken work_salvaged work_measured landing_refused unit_attempted id_allocated
        journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested halt_requested
        spin_flagged plans_approved settings_approved unit_cleared budget_warned budget_spent
        budget_promised baseline_started baseline_checked work_committed fleet_found incident_found
        intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed
        run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault test_witnessed
        command_checked line_imported line_unreadable tool_called hook_answered marker_held
        marker_reset session_bound export_advanced notification_sent verdict_given lifecycle_ticked
        run_steered steer_delivered
    """,
)

# After one of these a lane is surveyed again: other units may be open.
Offering = (
    fleet.UnitClaimed
    | fleet.UnitAttempted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.IterationCommitted
    | fleet.FleetStarted
    | limits.DecisionRaised
    | limits.DecisionAnswered
    | limits.UnitCleared
)
offering: FactReader[Offering] = FactReader(
    Offering,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_stopped decision_forced run_minted run_begun unit_taken work_salvaged agent_started
        run_stopped id_allocated journal_pruned limit_hit limit_probed limit_lifted units_screened
        run_parked landing_queued landing_deferred run_unparked agent_waiting agent_went_on
        pause_requested pause_ended halt_requested spin_flagged plans_approved settings_approved
        lane_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked
        work_committed fleet_found incident_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed command_checked
        line_imported line_unreadable tool_called hook_answered marker_held marker_reset
        session_bound export_advanced notification_sent verdict_given lifecycle_ticked run_steered
        steer_delivered
    """,
)
