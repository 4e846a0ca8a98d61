"""Whose turn it is to land on a branch: one landing at a time, in the order in which the work was proven."""

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
        lease_granted lease_renewed lease_refused spawn_intended worker_spawned worker_reaped lane_failed
        drain_requested fleet_started fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken
        work_salvaged agent_started agent_ended work_measured landing_intended unit_attempted
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed limit_lifted
        units_screened run_parked run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved settings_approved
        lane_cleared unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked
        work_committed fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault
        receipt_issued test_witnessed line_imported line_unreadable
    """,
)


class Ticket(Struct, frozen=True, kw_only=True):
    branch: str
    fence: int  # of the lease that it was queued under: a ticket counts for as long as that stands
    position: int  # of the event: who queued first goes first


class LandingQueue(Struct, kw_only=True):
    name: ClassVar[str] = "landing_queue"

    tickets: dict[str, Ticket] = field(
        default_factory=dict
    )  # by run: each lands one unit at a time

    def apply(self, event: Event) -> None:
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
        """The tickets that come before a run's own on its branch, in order. Those of dead holders are among them."""
        own = self.tickets.get(run_id)
        if own is None:
            return []
        others = [each for each in self.tickets.values() if each.branch == own.branch]
        return sorted(
            (each for each in others if each.position < own.position),
            key=lambda each: each.position,
        )

    def _drop(self, fence: int) -> None:
        for run_id in [run_id for run_id, ticket in self.tickets.items() if ticket.fence == fence]:
            del self.tickets[run_id]


QUEUE_SECONDS = 0.05  # for each landing ahead but the first, before whoever waits looks again
LONGEST_QUEUE_SECONDS = 1.0
LOOK_SECONDS = 1.0  # nothing is written when a process dies: so that is looked at


def wait_for_turn(
    effect: AwaitTurn,
    watch: fold.Watch,
    store: Store,
    *,
    check: Callable[[Lease, bool], None],
    pause: Callable[[float], object],
) -> int:
    """How many are still ahead after `effect.seconds`; 0 as soon as nobody is.

    `check` raises when the run is halted or, where True says that it is doubtful, its lease is lost. Every event wakes
    whoever waits; who is far behind waits a little longer, so that a long queue does not keep the store busy.
    """
    deadline = time.monotonic() + effect.seconds
    while True:
        live = {lease.fence: lease for lease in watch.refresh()}
        queue = watch.state(LandingQueue)
        check(effect.lease, effect.run_id not in queue.tickets)  # a ticket ends with its lease
        tickets = queue.tickets_ahead(effect.run_id)
        ahead = sum(
            each.fence in live and not process.holder_has_exited(live[each.fence])
            for each in tickets
        )
        left = deadline - time.monotonic()
        if not ahead or left <= 0:
            return ahead
        pause(min(QUEUE_SECONDS * (ahead - 1), LONGEST_QUEUE_SECONDS, left))
        store.wait(watch.pos, min(left, LOOK_SECONDS))
