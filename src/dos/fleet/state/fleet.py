"""The fleet's state, folded from the journal: runs, units, starts of lanes and requests to stop."""

from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.agents.adapter import LIMITS
from dos.backlog.cooldown import AttemptOutcome
from dos.fleet.state import entries
from dos.fleet.state.entries import (
    FleetRun,
    Incidents,
    LaneStarts,
    LastAttempt,
    LastStop,
    StopRequests,
    SupervisorStart,
    UnitState,
)
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.limits.state import quota
from dos.loop.types import StopReason
from dos.reasons.table import Needs

__all__ = [
    "FleetRun",
    "FleetState",
    "LaneStarts",
    "LastAttempt",
    "LastStop",
    "StopRequests",
    "UnitState",
]

ENDED_RUNS_KEPT = 200
NO_ROOM = frozenset({*LIMITS, "limited"})  # older versions wrote "limited"


class FleetState(Struct, kw_only=True):
    """The fleet as the journal tells it. A fold: `apply` takes one event after the other."""

    name: ClassVar[str] = "fleet"
    made_with: ClassVar[tuple[str, ...]] = (entries.__name__,)

    runs: dict[str, FleetRun] = field(default_factory=dict)
    units: dict[str, UnitState] = field(default_factory=dict)
    starts: dict[str, LaneStarts] = field(default_factory=dict)
    salvaged: list[str] = field(default_factory=list)
    drain: int = 0  # the newest request to drain; it is for all leases that are older
    paused: dict[str, str] = field(default_factory=dict)  # lane -> why; "": the whole fleet
    halts: dict[str, str] = field(default_factory=dict)  # run -> why
    promised: set[str] = field(default_factory=set)  # runs with a reservation of a shared budget
    wake_pos: int = 0  # the position of the newest event that may end a wait
    started_ms: int = 0  # when a person last started the fleet
    supervisors: dict[str, SupervisorStart] = field(default_factory=dict)  # by machine
    incidents: Incidents = field(default_factory=Incidents)

    def apply(self, event: Event) -> None:
        """Change the state by one event; an event that says nothing about a fleet is skipped."""
        fact = entries.reader.decode(event)
        if fact is None:
            return
        self._end_reservation(fact, event)
        if isinstance(fact, limits.BudgetPromised):
            self.promised.add(fact.run_id)
        elif isinstance(fact, entries.StartFact):
            self._apply_start(fact, event)
        elif isinstance(fact, entries.RequestFact):
            self._apply_request(fact, event)
            self.wake_pos = event.pos
        elif isinstance(fact, entries.WorkFact):
            self._apply_work(fact, event)
        else:
            self._apply_run(fact, event)

    def stop_requests(self, lease: Lease) -> StopRequests:
        """Return what the run of the lease is asked to do.

        A drain is for all runs that were started before it, also when their lease came later, and
        so for those that were started by a supervisor which had not seen the drain yet.
        """
        starts = self.starts.get(lease.lane)
        if starts and starts.run_id == lease.run_id:
            started = starts.intended
        else:
            started = lease.fence
        names = ("", lease.lane, lease.part_of)  # of the fleet, the lane and what it is a part of
        return StopRequests(
            drain=self.drain > started,
            superseded_by=self._newer_version(lease),
            halted=self.halts.get(lease.run_id, ""),
            paused=next((self.paused[name] for name in names if name in self.paused), ""),
        )

    def _newer_version(self, lease: Lease) -> str:
        """Return the version whose supervisor was started on the lease's machine since the run.

        Empty where it is the run's own version. Otherwise the run drains, so that the lane
        continues with the version that a person started last.
        """
        run = self.runs.get(lease.run_id)
        supervisor = self.supervisors.get(lease.system)
        if run is None or supervisor is None or supervisor.position < run.begun:
            return ""
        return supervisor.version if supervisor.version != run.version else ""

    def has_open_attempt(self, unit: str) -> bool:
        """Whether a run works on the unit, or has tried it and not stopped.

        While that run lasts its loop counts failed attempts; a cooldown begins when it stops.
        """
        state = self.units.get(unit, UnitState())
        if state.is_interrupted:
            return True
        if state.last_attempt is None:
            return False
        run_id = state.last_attempt.run_id
        run = self.runs.get(run_id)
        starts = self.starts.get(run.lane) if run else None
        return starts is not None and starts.current_run == run_id

    def _end_reservation(self, fact: entries.FleetFact, event: Event) -> None:
        """The end of an agent frees its part of a shared budget for a run that waits."""
        if limits.is_agent_gone(fact) and fact.run_id in self.promised:
            self.promised.discard(fact.run_id)
            self.wake_pos = event.pos

    def _apply_start(self, fact: entries.StartFact, event: Event) -> None:
        """Apply a fact about the starts of lanes and of the fleet."""
        match fact:
            case fleet.SpawnIntended():
                self._starts(fact.lane, event).add_intent(fact, event.at_ms, event.pos)
            case fleet.WorkerSpawned():
                self._starts(fact.lane, event).add_process(fact)
            case fleet.WorkerReaped():
                self._starts(fact.lane, event).pending = False
            case fleet.LaneFailed():
                starts = self._starts(fact.lane, event)
                starts.failed = fact.reason
                starts.times_failed += 1
            case limits.LaneCleared():
                self._starts(fact.lane, event).clear_failure()
            case fleet.FleetStarted():
                self._start_fleet(fact, event)
            case lanes.LeaseGranted():
                starts = self.starts.get(fact.asked.lane, LaneStarts())
                if not fact.asked.is_lock:
                    starts.end_pending(fact.asked.run_id)
            case never:
                assert_never(never)

    def _start_fleet(self, fact: fleet.FleetStarted, event: Event) -> None:
        """A person starts the fleet, and by that clears the failures of all lanes."""
        self.started_ms = event.at_ms
        for starts in self.starts.values():
            starts.clear_failure()
        if not fact.system:
            return  # recorded by an older version: its machine is not known
        before = self.supervisors.get(fact.system)
        if before and before.version != fact.version:
            self.wake_pos = event.pos  # workers that wait have to check whether to drain
        self.supervisors[fact.system] = SupervisorStart(position=event.pos, version=fact.version)

    def _apply_request(self, fact: entries.RequestFact, event: Event) -> None:
        """Apply a fact that a person, a provider or a question asks for; it may end a wait."""
        match fact:
            case fleet.DrainRequested():
                self.drain = event.pos
            case limits.PauseRequested():
                self.paused[fact.lane] = fact.reason or "paused by a person"
            case limits.PauseEnded():
                self._end_pause(fact.lane)
            case limits.HaltRequested():
                self._halt(fact)
            case limits.LimitHit():
                self._hit_limit(fact)
            case limits.LimitLifted():
                self._clear_limit_stops(quota.limit_key(fact).path)
            case limits.UnitCleared():
                self._clear_unit(fact, event)
            case limits.DecisionAnswered():
                self.incidents.answer(fact)
            case limits.IncidentFound():
                self.incidents.add(fact)
            case never:
                assert_never(never)

    def _end_pause(self, lane: str) -> None:
        """End a pause, which clears the lane's failures too."""
        self.paused.pop(lane, None)
        if starts := self.starts.get(lane):
            starts.clear_failure()

    def _halt(self, fact: limits.HaltRequested) -> None:
        """Keep why a person stops the run, unless it has stopped already."""
        run = self.runs.get(fact.run_id)
        if run is None or not run.stop_reason:
            self.halts[fact.run_id] = fact.why

    def _hit_limit(self, fact: limits.LimitHit) -> None:
        if run := self.runs.get(fact.run_id):
            run.limit = quota.limit_key(fact).path

    def _apply_work(self, fact: entries.WorkFact, event: Event) -> None:
        """Apply a fact about the work on a unit."""
        match fact:
            case fleet.UnitClaimed():
                self._run(fact.run_id, fact.lane, event).unit = fact.unit
                self._unit(fact.unit).add_claim(fact)
            case fleet.AgentEnded():
                unit = self._unit(fact.unit)
                unit.claim = fact.claim
                unit.outcome = fact.outcome
            case fleet.UnitAttempted():
                self._unit(fact.unit).add_attempt(fact, event.at_ms)
                if run := self.runs.get(fact.run_id):
                    has_failed = fact.outcome != AttemptOutcome.SHIPPED
                    run.add_attempt(fact.unit, has_failed=has_failed)
            case fleet.WorkMeasured():
                self._measure(fact, event)
            case fleet.LandingIntended():
                self._unit(fact.unit).intended = fact
            case fleet.LandingRefused():
                self._unit(fact.unit).add_refusal(fact.reason)
                self._miss(fact, event)
            case fleet.UnitLanded():
                self._unit(fact.unit).add_landing(fact, event.at_ms)
                self._run(fact.run_id, fact.lane, event).add_landing(event.at_ms)
            case fleet.WorkSalvaged():
                self._salvage(fact)
            case never:
                assert_never(never)

    def _apply_run(self, fact: entries.RunFact, event: Event) -> None:
        """Apply a fact about a run as a whole."""
        match fact:
            case fleet.RunBegun():
                self._begin_run(fact, event)
            case fleet.AgentStarted():
                self._run(fact.run_id, fact.lane, event).limit = ""
            case limits.RunParked():
                self._run(fact.run_id, fact.lane, event).parked = True
            case limits.RunUnparked():
                self._run(fact.run_id, fact.lane, event).parked = False
            case limits.SpinFlagged():
                self._run(fact.run_id, fact.lane, event).flagged = True
            case fleet.IterationCommitted():
                self._end_iteration(fact, event)
            case fleet.RunStopped():
                self._stop(self._run(fact.run_id, fact.lane, event), fact, event)
            case limits.FleetFound():
                for run in self.runs.values():
                    run.reported = run.reported or run.lane not in fact.adopted_lanes
            case never:
                assert_never(never)

    def _end_iteration(self, fact: fleet.IterationCommitted, event: Event) -> None:
        """Free the unit of an iteration whose decision is recorded."""
        run = self._run(fact.run_id, fact.lane, event)
        run.iterations = fact.iteration
        run.unit = ""
        if fact.unit:
            unit = self._unit(fact.unit)
            unit.claimed_by = ""
            unit.deaths = 0

    def _begin_run(self, fact: fleet.RunBegun, event: Event) -> None:
        """Begin a run, which continues the dead run of its lane with what that one had counted."""
        failed = self._remove_dead_runs(fact.lane)
        self.runs[fact.run_id] = FleetRun(
            lane=fact.lane,
            begun_ms=event.at_ms,
            begun=event.pos,
            version=fact.version,
            failed=failed,
        )
        for name in failed:
            unit = self._unit(name)
            if unit.last_attempt:
                unit.last_attempt = structs.replace(unit.last_attempt, run_id=fact.run_id)
        self.starts.setdefault(fact.lane, LaneStarts()).current_run = fact.run_id

    def _measure(self, fact: fleet.WorkMeasured, event: Event) -> None:
        """Add a miss where the work was not delivered, and end the use of saved changes."""
        unit = self._unit(fact.unit)
        # An agent that a limit of its provider stopped says nothing about the unit.
        says_something = unit.outcome not in NO_ROOM or fact.commits or unit.saved
        if fact.verdict != "DELIVERED" and says_something:
            self._miss(fact, event)
        if not unit.saved_by_newest:  # this attempt began with the saved changes and is over
            unit.saved_commit = ""

    def _miss(self, fact: fleet.WorkMeasured | fleet.LandingRefused, event: Event) -> None:
        """Add to the unit and to the run why the work did not land."""
        text = self._unit(fact.unit).add_miss(fact.reason)
        self._run(fact.run_id, fact.lane, event).missed = f"{fact.unit}: {text}"

    def _salvage(self, fact: fleet.WorkSalvaged) -> None:
        """Add saved work to the unit of its run, and to the unit that continues with it."""
        self.salvaged = [*self.salvaged, fact.ref][-ENDED_RUNS_KEPT:]
        run = self.runs.get(fact.run_id)
        if run and run.unit and not fact.earlier:
            self._unit(run.unit).add_saved_ref(fact.ref)
        if fact.kept_for:
            unit = self._unit(fact.kept_for)
            unit.saved_commit = fact.commit
            unit.saved_by_newest = True

    def _stop(self, run: FleetRun, fact: fleet.RunStopped, event: Event) -> None:
        """End a run, and keep how it ended for the next start of its lane."""
        self._leave_unit(run, fact.run_id)
        run.stop_reason = fact.stop_reason
        run.stop_detail = fact.reason
        run.needs = fact.needs
        run.stopped_ms = event.at_ms
        self.halts.pop(fact.run_id, None)
        if not fact.lane:
            return
        starts = self.starts.setdefault(fact.lane, LaneStarts())
        starts.stopped = LastStop(
            run_id=fact.run_id,
            reason=fact.stop_reason,
            detail=fact.reason,
            needs=fact.needs,
            at_ms=event.at_ms,
            landed=run.landed,
            limit=run.limit if fact.stop_reason == StopReason.LAUNCH_FAILED else "",
            missed=run.missed,
            failed=run.failed,
        )
        starts.unended.pop(fact.run_id, None)
        starts.end_pending(fact.run_id)
        if starts.current_run == fact.run_id:
            starts.current_run = ""
        starts.told_to_wait_ms = event.at_ms if fact.needs == Needs.TIME else 0
        self._forget_old_runs()

    def _clear_unit(self, fact: limits.UnitCleared, event: Event) -> None:
        """Let a unit be tried again, and its lane be started at once."""
        self._unit(fact.unit).clear(event.at_ms)
        if starts := self.starts.get(fact.lane):
            starts.told_to_wait_ms = 0
            starts.woken_ms = event.at_ms

    def _clear_limit_stops(self, limit: str) -> None:
        """Clear the lanes whose last run stopped at this limit."""
        for starts in self.starts.values():
            if starts.stopped and starts.stopped.limit == limit:
                starts.clear_failure()

    def _run(self, run_id: str, lane: str, event: Event) -> FleetRun:
        """Return the run, new where it is not known.

        A run that names no lane is a manual loop. It is not kept: no supervisor resumes it.
        """
        run = FleetRun(lane=lane, begun_ms=event.at_ms)
        if lane or run_id in self.runs:
            return self.runs.setdefault(run_id, run)
        return run

    def _unit(self, name: str) -> UnitState:
        return self.units.setdefault(name, UnitState())

    def _starts(self, lane: str, event: Event) -> LaneStarts:
        """Return the starts of a lane, at the version of its stream."""
        starts = self.starts.setdefault(lane, LaneStarts())
        starts.version = event.ver
        return starts

    def _leave_unit(self, run: FleetRun, run_id: str) -> None:
        """A run that records its stop frees the unit that it worked on."""
        unit = self.units.get(run.unit)
        if unit and unit.claimed_by == run_id:
            unit.claimed_by = ""
            if unit.saved and not unit.missed:
                unit.add_miss("its run was stopped")
        run.unit = ""

    def _forget_old_runs(self) -> None:
        """Keep only the newest runs that have ended."""
        ended = [run_id for run_id, run in self.runs.items() if run.stop_reason]
        for run_id in ended[: max(0, len(ended) - ENDED_RUNS_KEPT)]:
            del self.runs[run_id]

    def _remove_dead_runs(self, lane: str) -> list[str]:
        """Remove the lane's runs that never stopped, and return the units that they failed at.

        A lane has one run at a time, so a run that did not stop before the next began is dead.
        """
        dead = [
            run_id for run_id, run in self.runs.items() if run.lane == lane and not run.stop_reason
        ]
        failed: list[str] = []
        for run_id in dead:
            failed += self.runs.pop(run_id).failed
            self.halts.pop(run_id, None)
        return list(dict.fromkeys(failed))
