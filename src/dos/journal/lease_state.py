"""The leases that are held, folded from lease events. The lease table must always agree with it."""

from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.journal.events import lanes
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.lease import Lease, Request

Handled = (
    lanes.LeaseGranted
    | lanes.LeaseRenewed
    | lanes.LeaseReleased
    | lanes.LeaseExpired
    | lanes.LeaseRevoked
    | lanes.LeaseAdopted
)
reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken
        work_salvaged agent_started agent_ended work_measured landing_intended unit_landed
        landing_refused unit_attempted iteration_committed run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started baseline_checked work_committed fleet_found incident_found intent_declared
        extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed
        run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        command_checked line_imported line_unreadable tool_called hook_answered marker_held
        marker_reset session_bound export_advanced notification_sent verdict_given lifecycle_ticked
        run_steered steer_delivered
    """,
)


class Leases(Struct, kw_only=True):
    """Every lease that was not ended, by its fence; leases of named locks are among them."""

    name: ClassVar[str] = "leases"

    live: dict[int, Lease] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Change the state by one event; events about other things change nothing."""
        match reader.decode(event):
            case None:
                pass
            case lanes.LeaseGranted() as fact:
                self._begin(event, fact.asked, fact.boot, fact.expires_ms)
            case lanes.LeaseAdopted() as fact:
                self.live.pop(fact.previous, None)
                self._begin(event, fact.asked, fact.boot, fact.expires_ms)
            case lanes.LeaseRenewed() as fact:
                self._renew(event, fact)
            case lanes.LeaseReleased() | lanes.LeaseExpired() | lanes.LeaseRevoked() as fact:
                self.live.pop(fact.lease, None)
            case never:
                assert_never(never)

    def _begin(self, event: Event, request: Request, boot: str, expires_ms: int) -> None:
        self.live[event.pos] = Lease(
            **structs.asdict(request),
            fence=event.pos,
            boot=boot,
            granted_ms=event.at_ms,
            beat_ms=event.at_ms,
            expires_ms=expires_ms,
            version=event.ver,
        )

    def _renew(self, event: Event, fact: lanes.LeaseRenewed) -> None:
        lease = self.live.get(fact.lease)
        if lease is None:
            return
        self.live[fact.lease] = structs.replace(
            lease, expires_ms=fact.expires_ms, beat_ms=event.at_ms, version=event.ver
        )
