"""Checks the events of leases and of worker starts against the invariants.

The leases are folded a second time here and compared with the store's table, so that a table that
drifts from its events is noticed at the write that made it drift.
"""

from typing import Any, assert_never

from dos import regions
from dos.baseline import gate
from dos.baseline.gate import Check, is_accepted
from dos.fleet.population.reconcile import START_SECONDS
from dos.fleet.supervisor import SupervisorExit
from dos.journal import lease_state
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.journal.lease_state import Leases
from dos.lease import Lease
from dos.loop.types import WorkerStop
from dos.testing.simulator.answers import AnswerChecker
from dos.testing.simulator.supervisor_effects import SupervisorEffects
from dos.testing.simulator.world import faults, invariants
from dos.testing.simulator.world.invariants import InvariantBroken
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.watched_events import OfStarts


class Start:
    """A lane's newest start: by which host, when, and whether its worker is accounted for."""

    __slots__ = ("at_ms", "run_id", "settled", "system")

    def __init__(self, run_id: str, system: str, at_ms: int) -> None:
        self.run_id = run_id
        self.system = system
        self.at_ms = at_ms
        self.settled = False  # its worker took the lane, or was reaped


class LeaseChecker:
    """Checks what may happen to a lease, and when a lane may get a worker."""

    def __init__(self, site: Site, fleets: SupervisorEffects) -> None:
        self.site = site
        self.fleets = fleets
        self.leases = Leases()
        self.stopped: dict[str, str] = {}  # run -> its stop reason
        self.fleet_ended_at = 0  # position of the newest end of a supervisor
        self.answers = AnswerChecker(site, fleets)
        self._fence = 0
        # lane -> its starts whose run has not stopped with a reason, by run
        self._recent: dict[str, dict[str, int]] = {}
        self._starts: dict[str, Start] = {}

    # Leases

    def _lease_event(self, event: Event, fact: lease_state.Handled) -> None:
        """Check an event of a lease, fold it, and compare the fold with the store's table."""
        match fact:
            case lanes.LeaseGranted():
                self._granted(event, fact)
            case lanes.LeaseRenewed():
                self._live_lease(event, fact.lease)
            case lanes.LeaseReleased():
                self._live_lease(event, fact.lease)
            case lanes.LeaseExpired():
                self._expired(event, fact)
            case lanes.LeaseRevoked():
                self._revoked(event, fact)
            case lanes.LeaseAdopted():
                self._live_lease(event, fact.previous)
            case never:
                assert_never(never)
        self.leases.apply(event)
        # A transaction may end one lease and grant another: compare after its last event.
        if event.pos != self.site.reader.last():
            return
        table = {lease.fence: lease for lease in self.site.reader.leases()}
        if table != self.leases.live:
            raise InvariantBroken(
                invariants.TABLE,
                f"after event {event.pos}: {sorted(table)} and {sorted(self.leases.live)}",
            )

    def _granted(self, event: Event, fact: lanes.LeaseGranted) -> None:
        """Check a new lease: a greater fence, no overlap with a live lease, room in its class."""
        asked = fact.asked
        if event.pos <= self._fence:
            raise InvariantBroken(invariants.FENCES, f"fence {event.pos} comes after {self._fence}")
        self._fence = event.pos
        same_kind = 1
        same_whole = 1
        for lease in self.leases.live.values():
            if lease.is_lock != asked.is_lock:
                continue
            same_kind += lease.kind == asked.kind
            same_whole += lease.part_of == asked.part_of
            overlap = not asked.is_lock and regions.conflict(
                asked.region, asked.mode, lease.region, lease.mode
            )
            if lease.lane == asked.lane or overlap:
                raise InvariantBroken(
                    invariants.DISJOINT,
                    f"{asked.lane} is granted beside {lease.lane} ({lease.fence})",
                )
        cap = self.site.workspace.budgets.get(asked.kind)
        if cap and same_kind > cap:
            raise InvariantBroken(
                invariants.BUDGET, f"{same_kind} leases of kind {asked.kind}, where {cap} may be"
            )
        most = self.site.workspace.config.supervise.max_concurrency
        if asked.part_of and most and same_whole > most:
            raise InvariantBroken(
                invariants.BUDGET, f"{same_whole} parts of {asked.part_of}, where {most} may be"
            )
        start = self._starts.get(asked.lane)
        if start and start.run_id == asked.run_id:
            start.settled = True

    def _live_lease(self, event: Event, fence: int) -> Lease:
        """Return the live lease with this fence; raises InvariantBroken if it has ended."""
        lease = self.leases.live.get(fence)
        if lease is None:
            raise InvariantBroken(
                invariants.CURRENT,
                f"event {event.pos} ({event.kind}) is of lease {fence}, which ended",
            )
        return lease

    def _expired(self, event: Event, fact: lanes.LeaseExpired) -> None:
        """Check that the lease's time was over by the store's clock."""
        lease = self._live_lease(event, fact.lease)
        left_ms = lease.expires_ms - self.site.scheduler.now
        if left_ms > 0:
            early = f"{left_ms / 1000:g} s too early"
            raise InvariantBroken(
                invariants.STORE_TIME, f"lease {lease.fence} of {lease.lane} expired {early}"
            )

    def _revoked(self, event: Event, fact: lanes.LeaseRevoked) -> None:
        """Check that the lease had expired, or that its holder was dead."""
        lease = self._live_lease(event, fact.lease)
        holder = self.site.holder(lease)
        if lease.expires_ms > self.site.scheduler.now and holder is not None and holder.alive:
            beat = (self.site.scheduler.clock.wall_ms() - lease.beat_ms) / 1000
            raise InvariantBroken(
                invariants.DEAD_ONLY,
                f"lease {lease.fence} of {lease.lane} was revoked, {beat:g} s after a beat",
            )

    def process_ended(self, process: Process, answer: Any) -> None:
        """Check a process that ended; `answer` is its result, or None if it was killed."""
        why = getattr(answer, "exit", None) or getattr(answer, "reason", None)
        if why not in (SupervisorExit.LOST, WorkerStop.LEASE_LOST):
            return
        for lease in self.site.reader.leases():
            # Only the lease of its lane counts: a lease on the plans may stay until it expires.
            is_its_own = lease.pid == process.pid and lease.lane == process.lane
            if is_its_own and (lease.is_lock or lease.expires_ms > self.site.scheduler.now):
                raise InvariantBroken(
                    invariants.HOLDS,
                    f"{process.lane} ended as lost and holds lease {lease.fence}: {answer}",
                )

    # Starts

    def _check_start(self, event: Event, fact: OfStarts) -> None:
        """Check an event about starting workers, and keep the count of each lane's starts."""
        match fact:
            case fleet.SpawnIntended():
                self._spawn_intended(event, fact)
            case fleet.WorkerReaped():
                start = self._starts.get(fact.lane)
                if start:
                    start.settled = True
            case fleet.FleetStarted():
                self._recent.clear()  # a person started the fleet: all lanes may be tried again
            case limits.PauseEnded() | limits.LaneCleared():
                self._recent.pop(fact.lane, None)
            case fleet.FleetStopped():
                self.fleet_ended_at = event.pos
            case fleet.LaneFailed():
                self.site.scheduler.counts[faults.GIVEN_UP] += 1
            case never:
                assert_never(never)

    def _spawn_intended(self, event: Event, fact: fleet.SpawnIntended) -> None:
        """Check that the lane may get a worker now and that the fleet needs one more.

        Starts count against the lane until their run stops with a reason; a person who starts the
        fleet, ends a pause or retries the lane clears the count.
        """
        self.answers.record_start(event, fact.lane)
        now = event.at_ms
        self._check_pending(event, fact)
        self._check_target(event, fact.system)
        recent = self._recent.setdefault(fact.lane, {})
        recent[fact.run_id] = now
        policy = self.site.workspace.config.supervise
        within = sum(now - at < policy.restart_period_seconds * 1000 for at in recent.values())
        if within > policy.restart_intensity:
            raise InvariantBroken(
                invariants.INTENSITY, f"{within} starts of lane {fact.lane} within the period"
            )
        self._starts[fact.lane] = Start(fact.run_id, fact.system, now)
        seen, started = self.fleets.population.get(fact.system, (0, 0))
        self.fleets.population[fact.system] = seen, started + 1
        if seen + started + 1 > self.site.workspace.target:
            more = f"{seen} seen and {started + 1} started"
            raise InvariantBroken(
                invariants.POPULATION,
                f"{fact.system}: {more}, where {self.site.workspace.target} are wanted",
            )

    def _check_target(self, event: Event, host: str) -> None:
        """Raise unless the host's last baseline check passed or a person accepted its failure."""
        site = self.site
        if not site.workspace.is_checked:
            return
        checks = [check for check in site.baselines.checks if check.host == host]
        questions = [
            question
            for question in gate.check_questions(site.decisions)
            if question.subject.host == host
        ]
        fault = "unchecked"
        if checks:
            newest = max(checks, key=_time_of)
            if newest.is_good or is_accepted(newest, questions):
                return
            fault = newest.fault
        raise InvariantBroken(
            invariants.BASELINE,
            f"event {event.pos} starts a worker on {host}, which is {fault}",
        )

    def _check_pending(self, event: Event, fact: fleet.SpawnIntended) -> None:
        """Raise if the lane's last worker may still be on its way to its lease."""
        start = self._starts.get(fact.lane)
        if start is None or start.settled or start.run_id in self.stopped:
            return
        # Only its own host can tell that it has exited; for other hosts it may still be starting.
        gone = start.system == fact.system and not self.site.is_running(start.run_id)
        if not gone and event.at_ms - start.at_ms < START_SECONDS * 1000:
            age = (event.at_ms - start.at_ms) / 1000
            raise InvariantBroken(
                invariants.PENDING, f"lane {fact.lane} was started {age:g} s ago, as {start.run_id}"
            )


def _time_of(check: Check) -> int:
    return check.at_ms
