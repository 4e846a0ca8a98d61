"""The queue of landings on a branch: one at a time, in the order in which work was proven."""

import time
from collections.abc import Callable
from typing import ClassVar, assert_never

from msgspec import Struct, field

from dos.fleet.effects import AwaitTurn
from dos.journal import fold
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.journal.store import Store
from dos.lease import Lease
from dos.machine import process

Handled = (
    limits.LandingQueued
    | fleet.UnitLanded
    | fleet.LandingRefused
    | limits.LandingDeferred
    | lanes.LeaseReleased
    | lanes.LeaseExpired
    | lanes.LeaseRevoked
    | lanes.LeaseAdopted
)
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_granted lease_renewed lease_refused spawn_intended worker_spawned worker_reaped
        lane_failed drain_requested fleet_started fleet_stopped decision_forced run_minted run_begun
        unit_claimed unit_taken work_salvaged agent_started agent_ended work_measured
        landing_intended unit_attempted iteration_committed run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked run_unparked agent_waiting
        agent_went_on pause_requested pause_ended halt_requested spin_flagged decision_raised
        decision_answered plans_approved settings_approved lane_cleared unit_cleared budget_warned
        budget_spent budget_promised baseline_started baseline_checked work_committed fleet_found
        incident_found intent_declared extent_changed step_claimed step_verified run_suspended
        resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault
        receipt_issued test_witnessed command_checked line_imported line_unreadable tool_called
        hook_answered marker_held marker_reset session_bound export_advanced notification_sent
        verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)
QUEUE_SECONDS = 0.05  # to pause for each landing ahead but the first
LONGEST_QUEUE_SECONDS = 1.0
LOOK_SECONDS = 1.0  # a process that dies writes no event, so it is looked for this often


class Ticket(Struct, frozen=True, kw_only=True):
    """The place of a run in the queue of a branch."""

    branch: str
    fence: int  # of the lease that it was queued under; the ticket ends with that lease
    position: int  # of the event: who queued first lands first


class LandingQueue(Struct, kw_only=True):
    """The tickets of all runs that wait to land, folded from the journal."""

    name: ClassVar[str] = "landing_queue"

    tickets: dict[str, Ticket] = field(default_factory=dict)  # by run: each lands one unit a time

    def apply(self, event: Event) -> None:
        """Add a ticket when a landing is queued; drop it when it ends, or when its lease does."""
        match _reader.decode(event):
            case None:
                pass
            case limits.LandingQueued() as fact:
                ticket = Ticket(branch=fact.branch, fence=event.fence or 0, position=event.pos)
                self.tickets.setdefault(fact.run_id, ticket)
            case fleet.UnitLanded() | fleet.LandingRefused() | limits.LandingDeferred() as fact:
                self.tickets.pop(fact.run_id, None)
            case lanes.LeaseReleased() | lanes.LeaseExpired() | lanes.LeaseRevoked() as fact:
                self._drop(fact.lease)
            case lanes.LeaseAdopted() as fact:
                self._drop(fact.previous)
            case never:
                assert_never(never)

    def tickets_ahead(self, run_id: str) -> list[Ticket]:
        """Return the tickets before a run's own on its branch, in order, dead holders' too."""
        own = self.tickets.get(run_id)
        if own is None:
            return []
        ahead = []
        for ticket in self.tickets.values():
            if ticket.branch == own.branch and ticket.position < own.position:
                ahead.append(ticket)
        return sorted(ahead, key=_position)

    def _drop(self, fence: int) -> None:
        dropped = [run_id for run_id, ticket in self.tickets.items() if ticket.fence == fence]
        for run_id in dropped:
            del self.tickets[run_id]


def _position(ticket: Ticket) -> int:
    return ticket.position


def wait_for_turn(
    effect: AwaitTurn,
    watch: fold.Watch,
    store: Store,
    *,
    check: Callable[[Lease, bool], None],
    pause: Callable[[float], object],
) -> int:
    """Return how many are still ahead after `effect.seconds`, or 0 as soon as nobody is.

    `check` raises when the run is halted or its lease is lost; its second argument says that the
    lease is in doubt. Every event wakes the waiting run; one that is far behind waits a little
    longer, so that a long queue does not keep the store busy.
    """
    deadline = time.monotonic() + effect.seconds
    while True:
        live = {lease.fence: lease for lease in watch.refresh()}
        queue = watch.state(LandingQueue)
        check(effect.lease, effect.run_id not in queue.tickets)  # a ticket ends with its lease
        ahead = 0
        for ticket in queue.tickets_ahead(effect.run_id):
            lease = live.get(ticket.fence)
            if lease is not None and not process.holder_has_exited(lease):
                ahead += 1
        left = deadline - time.monotonic()
        if not ahead or left <= 0:
            return ahead
        pause(min(QUEUE_SECONDS * (ahead - 1), LONGEST_QUEUE_SECONDS, left))
        store.wait(watch.pos, min(left, LOOK_SECONDS))
