"""The fleet as the journal tells it: runs, units and starts."""

from typing import ClassVar, assert_never

from msgspec import Struct, field, structs

from dos.agents.adapter import LIMITS, Ending
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
from dos.journal.events.reader import FactReader
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
TRIES_KEPT = 5
REFUSALS_KEPT = 5
NO_ROOM = frozenset({*LIMITS, "limited"})  # and what it was called once
DEATHS_KEPT = 1000  # of a lane: no more of them can be counted

_Start = (
    fleet.SpawnIntended
    | fleet.WorkerSpawned
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | limits.LaneCleared
    | fleet.FleetStarted
    | lanes.LeaseGranted
)
_Order = (
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
_Work = (
    fleet.UnitClaimed
    | fleet.AgentEnded
    | fleet.UnitAttempted
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.WorkSalvaged
)
_Run = (
    fleet.RunBegun
    | fleet.AgentStarted
    | limits.RunParked
    | limits.RunUnparked
    | limits.SpinFlagged
    | fleet.IterationCommitted
    | fleet.RunStopped
    | limits.FleetFound
)
Handled = _Start | _Order | _Work | _Run | limits.BudgetPromised
_reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused fleet_stopped
        decision_forced run_minted unit_taken id_allocated journal_pruned limit_probed units_screened
        landing_queued landing_deferred agent_waiting agent_went_on decision_raised plans_approved
        settings_approved budget_warned budget_spent baseline_started baseline_checked work_committed
        intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed run_resumed
        run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)


class FleetState(Struct, kw_only=True):
    name: ClassVar[str] = "fleet"
    made_with: ClassVar[tuple[str, ...]] = (entries.__name__,)

    runs: dict[str, FleetRun] = field(default_factory=dict)
    units: dict[str, UnitState] = field(default_factory=dict)
    starts: dict[str, LaneStarts] = field(default_factory=dict)
    salvaged: list[str] = field(default_factory=list)
    drain: int = 0  # the newest request to drain: it concerns whoever took a lease before it
    paused: dict[str, str] = field(
        default_factory=dict
    )  # lane -> why; the empty name is the whole fleet
    halts: dict[str, str] = field(default_factory=dict)  # run -> why
    promised: set[str] = field(
        default_factory=set
    )  # runs for whose agent something is kept of a shared budget
    wake_pos: int = 0  # the position of the newest thing that may end a wait
    started_ms: int = 0  # when a person last started the fleet
    supervisors: dict[str, SupervisorStart] = field(default_factory=dict)  # by machine
    incidents: Incidents = field(default_factory=Incidents)

    def apply(self, event: Event) -> None:
        fact = _reader.decode(event)
        if fact is None:
            return
        self._hear_of_promise(fact, event)
        if isinstance(fact, limits.BudgetPromised):
            self.promised.add(fact.run_id)
        elif isinstance(fact, _Start):
            self._apply_start(fact, event)
        elif isinstance(fact, _Order):
            self._apply_order(fact, event)
            self.wake_pos = event.pos
        elif isinstance(fact, _Work):
            self._apply_work(fact, event)
        else:
            self._apply_run(fact, event)

    def stop_requests(self, lease: Lease) -> StopRequests:
        """A drain concerns whoever was started before it, also when the lease came later.

        So it concerns whoever is started by a supervisor that ran before it, and had not heard of it.
        """
        starts = self.starts.get(lease.lane)
        born = starts.intended if starts and starts.run_id == lease.run_id else lease.fence
        paused = [why for name in ("", lease.lane) if (why := self.paused.get(name)) is not None]
        return StopRequests(
            drain=self.drain > born,
            superseded_by=self._newer_version(lease),
            halted=self.halts.get(lease.run_id, ""),
            paused=paused[0] if paused else "",
        )

    def _newer_version(self, lease: Lease) -> str:
        """The version of dos whose supervisor was started on the lease's machine after the run began.

        Empty where it is the run's own version. The run then drains, so that the lane goes on with the version
        that a person started last.
        """
        run = self.runs.get(lease.run_id)
        supervisor = self.supervisors.get(lease.system)
        if run is None or supervisor is None or supervisor.position < run.begun:
            return ""
        return supervisor.version if supervisor.version != run.version else ""

    def has_open_attempt(self, unit: str) -> bool:
        """A run is at the unit, or has tried it, and has not stopped: it goes on, or a run that follows it does.

        Its loop counts what was tried in vain; a cooldown begins when the run stops.
        """
        seen = self.units.get(unit, UnitState())
        if seen.is_interrupted:
            return True
        run = self.runs.get(seen.last_attempt.run_id) if seen.last_attempt else None
        starts = self.starts.get(run.lane) if run else None
        return (
            starts is not None
            and seen.last_attempt is not None
            and starts.current_run == seen.last_attempt.run_id
        )

    def _hear_of_promise(self, fact: Handled, event: Event) -> None:
        """An agent's end may be room for one that waits."""
        if isinstance(fact, limits.AGENT_GONE) and fact.run_id in self.promised:
            self.promised.discard(fact.run_id)
            self.wake_pos = event.pos

    def _apply_start(self, fact: _Start, event: Event) -> None:
        match fact:
            case fleet.SpawnIntended():
                starts = self._starts(fact.lane, event)
                starts.unended = dict(
                    [*starts.unended.items(), (fact.run_id, event.at_ms)][-DEATHS_KEPT:]
                )
                starts.at_ms, starts.intended = event.at_ms, fact.supervisor or event.pos
                starts.run_id, starts.host, starts.pending, starts.pid = (
                    fact.run_id,
                    fact.host,
                    True,
                    0,
                )
                starts.system = fact.system
            case fleet.WorkerSpawned():
                starts = self._starts(fact.lane, event)
                if fact.run_id == starts.run_id:  # and not of one before it, told late
                    starts.pid, starts.pid_started = fact.pid, fact.pid_started
                    starts.system = fact.system or starts.system
            case fleet.WorkerReaped():
                self._starts(fact.lane, event).pending = False
            case fleet.LaneFailed():
                starts = self._starts(fact.lane, event)
                starts.failed, starts.times_failed = fact.reason, starts.times_failed + 1
            case limits.LaneCleared():
                self._starts(fact.lane, event).clear_failure()
            case fleet.FleetStarted():
                self.started_ms = event.at_ms
                self._note_supervisor(fact, event)
                for starts in (
                    self.starts.values()
                ):  # starting the fleet is a person's word: try the lanes again
                    starts.clear_failure()
            case lanes.LeaseGranted():
                if not fact.asked.is_lock:  # its own worker has shown up
                    starts = self.starts.get(fact.asked.lane, LaneStarts())
                    starts.pending = starts.pending and starts.run_id != fact.asked.run_id
            case never:
                assert_never(never)

    def _note_supervisor(self, fact: fleet.FleetStarted, event: Event) -> None:
        if not fact.system:
            return  # an older version started it: nothing is known of its machine
        before = self.supervisors.get(fact.system)
        if before and before.version != fact.version:
            self.wake_pos = event.pos  # workers that wait have to look whether they are to drain
        self.supervisors[fact.system] = SupervisorStart(position=event.pos, version=fact.version)

    def _apply_order(self, fact: _Order, event: Event) -> None:
        match fact:
            case fleet.DrainRequested():
                self.drain = event.pos
            case limits.PauseRequested():
                self.paused[fact.lane] = fact.reason or "paused by a person"
            case limits.PauseEnded():
                self.paused.pop(fact.lane, None)
                if starts := self.starts.get(fact.lane):
                    starts.clear_failure()
            case limits.HaltRequested():
                if not self.runs.get(fact.run_id, FleetRun(lane="", begun_ms=0)).stop_reason:
                    self.halts[fact.run_id] = fact.why
            case limits.LimitHit():
                if run := self.runs.get(fact.run_id):
                    run.limit = quota.limit_key(fact).path
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

    def _apply_work(self, fact: _Work, event: Event) -> None:
        match fact:
            case fleet.UnitClaimed():
                self._run(fact.run_id, fact.lane, event).unit = fact.unit
                unit = self._unit(fact.unit)
                unit.claimed_by, unit.missed, unit.attempt_over, unit.saved_by_newest = (
                    fact.run_id,
                    False,
                    False,
                    False,
                )
                unit.deaths += fact.repeated
                unit.saved = unit.saved if fact.repeated else []
            case fleet.AgentEnded():
                unit = self._unit(fact.unit)
                unit.claim, unit.outcome = fact.claim, fact.outcome
            case fleet.UnitAttempted():
                self._note_attempt(fact, event)
            case fleet.WorkMeasured():
                self._measure(fact, event)
            case fleet.LandingIntended():
                self._unit(fact.unit).intended = fact
            case fleet.LandingRefused():
                unit = self._unit(fact.unit)
                unit.intended, unit.refused = None, unit.refused + 1
                unit.refusals = [*unit.refusals, fact.reason][-REFUSALS_KEPT:]
                self._run(fact.run_id, fact.lane, event).missed = self._missed(
                    fact.unit, fact.reason
                )
            case fleet.UnitLanded():
                unit = self._unit(fact.unit)
                unit.landed, unit.landed_on, unit.landed_ms = fact.commit, fact.branch, event.at_ms
                unit.intended, unit.claimed_by, unit.saved, unit.failures = None, "", [], 0
                unit.saved_commit = ""
                run = self._run(fact.run_id, fact.lane, event)
                run.landed, run.landed_ms, run.flagged, run.missed = (
                    run.landed + 1,
                    event.at_ms,
                    False,
                    "",
                )
            case fleet.WorkSalvaged():
                self._salvage(fact)
            case never:
                assert_never(never)

    def _apply_run(self, fact: _Run, event: Event) -> None:
        match fact:
            case fleet.RunBegun():
                failed = self._forget_dead_runs(fact.lane)
                self.runs[fact.run_id] = FleetRun(
                    lane=fact.lane,
                    begun_ms=event.at_ms,
                    begun=event.pos,
                    version=fact.version,
                    failed=failed,
                )
                self._hand_on_tries(failed, fact.run_id)
                self.starts.setdefault(fact.lane, LaneStarts()).current_run = fact.run_id
            case fleet.AgentStarted():
                self._run(fact.run_id, fact.lane, event).limit = ""
            case limits.RunParked():
                self._run(fact.run_id, fact.lane, event).parked = True
            case limits.RunUnparked():
                self._run(fact.run_id, fact.lane, event).parked = False
            case limits.SpinFlagged():
                self._run(fact.run_id, fact.lane, event).flagged = True
            case fleet.IterationCommitted():
                run = self._run(fact.run_id, fact.lane, event)
                run.iterations, run.unit = fact.iteration, ""
                if fact.unit:
                    unit = self._unit(fact.unit)
                    unit.claimed_by, unit.deaths = "", 0
            case fleet.RunStopped():
                self._stop(self._run(fact.run_id, fact.lane, event), fact, event)
            case limits.FleetFound():
                for run in self.runs.values():
                    run.reported = run.reported or run.lane not in fact.adopted_lanes
            case never:
                assert_never(never)

    def _measure(self, fact: fleet.WorkMeasured, event: Event) -> None:
        unit = self._unit(fact.unit)
        # That its provider had no room says nothing about the unit.
        says_something = unit.outcome not in NO_ROOM or fact.commits or unit.saved
        if fact.verdict != "DELIVERED" and says_something:
            self._run(fact.run_id, fact.lane, event).missed = self._missed(fact.unit, fact.reason)
        if not unit.saved_by_newest:  # another try has gone on from what was left
            unit.saved_commit = ""

    def _salvage(self, fact: fleet.WorkSalvaged) -> None:
        self.salvaged = [*self.salvaged, fact.ref][-ENDED_RUNS_KEPT:]
        at_work = self.runs.get(fact.run_id)
        if at_work and at_work.unit and not fact.earlier:
            self._saved(at_work.unit, fact.ref)
        if fact.kept_for:
            unit = self._unit(fact.kept_for)
            unit.saved_commit, unit.saved_by_newest = fact.commit, True

    def _stop(self, run: FleetRun, fact: fleet.RunStopped, event: Event) -> None:
        self._leave_unit(run, fact.run_id)
        run.stop_reason, run.stop_detail, run.needs = fact.stop_reason, fact.reason, fact.needs
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
        starts.pending = starts.pending and starts.run_id != fact.run_id
        starts.current_run = "" if starts.current_run == fact.run_id else starts.current_run
        starts.told_to_wait_ms = event.at_ms if fact.needs == Needs.TIME else 0
        self._forget_old_runs()

    def _note_attempt(self, fact: fleet.UnitAttempted, event: Event) -> None:
        unit = self._unit(fact.unit)
        unit.last_attempt = LastAttempt(
            run_id=fact.run_id, outcome=fact.outcome, at_ms=event.at_ms, text=fact.text
        )
        if (
            unit.claimed_by == fact.run_id
        ):  # it has come to the end of its try, so it did not die at the unit
            unit.attempt_over, unit.deaths = True, 0
        has_failed = fact.outcome != AttemptOutcome.SHIPPED
        unit.failures = unit.failures + 1 if has_failed else 0
        if run := self.runs.get(fact.run_id):
            run.failed = [
                *(each for each in run.failed if each != fact.unit),
                *([fact.unit] if has_failed else []),
            ]

    def _hand_on_tries(self, failed: list[str], run_id: str) -> None:
        """To the run that goes on after a dead one, with what that had counted."""
        for name in failed:
            unit = self._unit(name)
            if unit.last_attempt:
                unit.last_attempt = structs.replace(unit.last_attempt, run_id=run_id)

    def _clear_unit(self, fact: limits.UnitCleared, event: Event) -> None:
        unit = self._unit(fact.unit)
        unit.last_attempt, unit.failures, unit.deaths, unit.cleared_ms = None, 0, 0, event.at_ms
        if starts := self.starts.get(fact.lane):
            starts.told_to_wait_ms, starts.woken_ms = 0, event.at_ms

    def _clear_limit_stops(self, limit: str) -> None:
        """The lanes whose last run ended at this limit."""
        for starts in self.starts.values():
            if starts.stopped and starts.stopped.limit == limit:
                starts.clear_failure()

    def _run(self, run_id: str, lane: str, event: Event) -> FleetRun:
        """One that names no lane is a loop by hand: no worker's, and nothing that a supervisor would find or resume."""
        made = FleetRun(lane=lane, begun_ms=event.at_ms)
        return self.runs.setdefault(run_id, made) if lane or run_id in self.runs else made

    def _unit(self, name: str) -> UnitState:
        return self.units.setdefault(name, UnitState())

    def _starts(self, lane: str, event: Event) -> LaneStarts:
        starts = self.starts.setdefault(lane, LaneStarts())
        starts.version = event.ver
        return starts

    def _missed(self, name: str, why: str) -> str:
        """In words, for people."""
        unit = self._unit(name)
        how = (
            f"its agent ended with {unit.outcome}: " if unit.outcome not in ("", Ending.OK) else ""
        )
        where = f"; its work is on {', '.join(unit.saved)}" if unit.saved else ""
        unit.tries, unit.missed = [*unit.tries, f"{how}{why}{where}"][-TRIES_KEPT:], True
        return f"{name}: {how}{why}"

    def _saved(self, name: str, ref: str) -> None:
        unit = self._unit(name)
        if unit.missed and unit.tries:
            unit.tries[-1] += f", {ref}" if unit.saved else f"; its work is on {ref}"
        unit.saved.append(ref)

    def _leave_unit(self, run: FleetRun, run_id: str) -> None:
        """A run that stops with a word holds nothing back: a unit that it was at is offered again."""
        unit = self.units.get(run.unit)
        if unit and unit.claimed_by == run_id:
            unit.claimed_by = ""
            if unit.saved and not unit.missed:
                self._missed(run.unit, "its run was stopped")
        run.unit = ""

    def _forget_old_runs(self) -> None:
        ended = [run_id for run_id, run in self.runs.items() if run.stop_reason]
        for run_id in ended[: max(0, len(ended) - ENDED_RUNS_KEPT)]:
            del self.runs[run_id]

    def _forget_dead_runs(self, lane: str) -> list[str]:
        """A lane has one run: whoever was there before and never stopped is dead. → the units that they failed at"""
        failed: list[str] = []
        for run_id in [
            run_id for run_id, run in self.runs.items() if run.lane == lane and not run.stop_reason
        ]:
            failed += self.runs.pop(run_id).failed
            self.halts.pop(run_id, None)
        return list(dict.fromkeys(failed))
