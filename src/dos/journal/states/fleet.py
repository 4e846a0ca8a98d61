"""The fleet as the journal tells it: runs, units and starts."""

from typing import ClassVar

from msgspec import Struct, field, structs

from dos.journal import engine_events, events
from dos.journal.events import Event
from dos.journal.states import quota
from dos.journal.states.incidents import Incidents
from dos.plans.iterations import StopReason
from dos.records.attempts import Outcome
from dos.records.endings import LIMITS, Ending
from dos.records.leases import Lease
from dos.records.reasons import Needs

ENDED_RUNS_KEPT = 200
TRIES_KEPT = 5
REFUSALS_KEPT = 5
NO_ROOM = frozenset({*LIMITS, "limited"})  # and what it was called once
DEATHS_KEPT = 1000  # of a lane: no more of them can be counted


class Run(Struct, kw_only=True):
    lane: str
    begun_ms: int
    unit: str = ""  # claimed, and not committed yet
    iterations: int = 0
    landed: int = 0
    landed_ms: int = 0  # the newest
    stop_reason: str = ""
    stop_detail: str = ""
    needs: str = ""
    stopped_ms: int = 0
    parked: bool = False
    flagged: bool = False  # as spinning; whoever lands something is not any more
    limit: str = ""  # the name of what its last agent ran into
    missed: str = ""  # what did not land last, and why
    failed: list[str] = field(default_factory=list)  # the units that it tried in vain, or a run that it goes on after
    told: bool = False  # that it died was told to whoever started the fleet


class Tried(Struct, kw_only=True, frozen=True):
    run_id: str
    outcome: str
    at_ms: int
    text: str = ""  # the unit's fingerprint then


class Unit(Struct, kw_only=True):
    landed: str = ""  # the commit
    landed_on: str = ""  # the branch
    landed_ms: int = 0
    claimed_by: str = ""  # the run that is at it, or died at it
    deaths: int = 0  # how often in a row a run died at it
    claim: str = ""  # what the agent said last
    outcome: str = ""  # how it ended last
    tries: list[str] = field(default_factory=list)  # why each try did not land, newest last
    intended: events.LandingIntended | None = None
    refusals: list[str] = field(default_factory=list)  # why its landing was refused, the last times
    refused: int = 0  # how often
    saved: list[str] = field(default_factory=list)  # where the work of the newest try lies that did not land
    left: str = ""  # the saved commit of what an agent forgot to commit: the next one begins with it
    left_now: bool = False  # by the newest try
    missed: bool = False  # the newest try did not land, and that was written down
    tried: Tried | None = None  # the newest try, unless a person has cleared the unit since
    is_over: bool = False  # the newest claim was tried to its end
    failures: int = 0  # tries in vain since it landed or was cleared
    cleared_ms: int = 0  # when a person last said that it may be tried now
    undone: str = ""  # never folded: what git shows, where it landed and is not there any more

    @property
    def is_interrupted(self) -> bool:
        """A run is at it, or died at it before its try was over."""
        return bool(self.claimed_by) and not self.is_over


class Stopped(Struct, kw_only=True, frozen=True):
    run_id: str
    reason: str
    detail: str
    needs: str
    at_ms: int
    landed: int = 0
    limit: str = ""  # the name of the limit that its agents could not be started for
    missed: str = ""  # what did not land last, and why
    failed: list[str] = []  # the units that were tried in vain


class Starts(Struct, kw_only=True):
    """A lane's spawns, and the one whose worker has not shown up yet."""

    unended: dict[str, int] = field(default_factory=dict)  # when each run was started that has not stopped with a word
    at_ms: int = 0
    intended: int = 0  # the position of the newest start
    told_to_wait_ms: int = 0
    woken_ms: int = 0  # when a person last cleared one of its units
    run_id: str = ""
    host: str = ""
    system: str = ""  # in whose table of processes the pid is; empty: unknown
    pid: int = 0
    pid_started: float = 0.0
    pending: bool = False
    failed: str = ""
    times_failed: int = 0
    stopped: Stopped | None = None  # how its last run ended, until somebody says that it may go on
    working: str = ""  # the run that has begun here and not stopped: it is at work, or dead
    version: int = 0

    def may_go_on(self) -> None:
        self.failed, self.unended, self.told_to_wait_ms, self.stopped = "", {}, 0, None


class Orders(Struct, kw_only=True, frozen=True):
    """What people have asked of a run."""

    drain: bool = False
    halted: str = ""
    paused: str = ""

    @property
    def ends(self) -> bool:
        return self.drain or bool(self.halted)


class Fleet(Struct, kw_only=True):
    name: ClassVar[str] = "fleet"

    runs: dict[str, Run] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    starts: dict[str, Starts] = field(default_factory=dict)
    salvaged: list[str] = field(default_factory=list)
    drain: int = 0  # the newest request to drain: it concerns whoever took a lease before it
    paused: dict[str, str] = field(default_factory=dict)  # lane -> why; the empty name is the whole fleet
    halts: dict[str, str] = field(default_factory=dict)  # run -> why
    promised: set[str] = field(default_factory=set)  # runs for whose agent something is kept of a shared budget
    word: int = 0  # the position of the newest thing that may end a wait
    started_ms: int = 0  # when a person last started the fleet
    incidents: Incidents = field(default_factory=Incidents)

    def apply(self, event: Event) -> None:
        fact = events.decode(event)
        self._hear_of_promise(fact, event)
        match fact:
            case events.SpawnIntended() as fact:
                starts = self._starts(fact.lane, event)
                starts.unended = dict([*starts.unended.items(), (fact.run_id, event.at_ms)][-DEATHS_KEPT:])
                starts.at_ms, starts.intended = event.at_ms, event.pos
                starts.run_id, starts.host, starts.pending, starts.pid = fact.run_id, fact.host, True, 0
                starts.system = fact.system
            case events.WorkerSpawned() as fact:
                starts = self._starts(fact.lane, event)
                starts.pid, starts.pid_started = fact.pid, fact.pid_started
            case events.WorkerReaped() as fact:
                self._starts(fact.lane, event).pending = False
            case events.LaneFailed() as fact:
                starts = self._starts(fact.lane, event)
                starts.failed, starts.times_failed = fact.reason, starts.times_failed + 1
            case engine_events.LaneCleared() as fact:
                self._starts(fact.lane, event).may_go_on()
            case events.FleetStarted():
                self.started_ms = event.at_ms
                for starts in self.starts.values():  # starting the fleet is a person's word: try the lanes again
                    starts.may_go_on()
            case events.LeaseGranted() as fact if not fact.asked.is_lock:
                # Its own worker has shown up.
                starts = self.starts.get(fact.asked.lane, Starts())
                starts.pending = starts.pending and starts.run_id != fact.asked.run_id
            case events.Fact() as fact:
                self._apply_order(fact, event)
                self._apply_run(fact, event)
                self._note_left(fact)

    def orders(self, lease: Lease) -> Orders:
        """A drain concerns whoever was started before it, also when the lease came later."""
        starts = self.starts.get(lease.lane)
        born = starts.intended if starts and starts.run_id == lease.run_id else lease.fence
        paused = [why for name in ("", lease.lane) if (why := self.paused.get(name)) is not None]
        return Orders(
            drain=self.drain > born, halted=self.halts.get(lease.run_id, ""), paused=paused[0] if paused else ""
        )

    def counts_its_tries(self, unit: str) -> bool:
        """A run is at the unit, or has tried it, and has not stopped: it goes on, or a run that follows it does.

        Its loop counts what was tried in vain; a cooldown begins when the run stops.
        """
        seen = self.units.get(unit, Unit())
        if seen.is_interrupted:
            return True
        run = self.runs.get(seen.tried.run_id) if seen.tried else None
        starts = self.starts.get(run.lane) if run else None
        return starts is not None and seen.tried is not None and starts.working == seen.tried.run_id

    def _hear_of_promise(self, fact: events.Fact | None, event: Event) -> None:
        """An agent's end may be room for one that waits."""
        if isinstance(fact, engine_events.BudgetPromised):
            self.promised.add(fact.run_id)
        elif isinstance(fact, engine_events.NOT_AT_WORK) and fact.run_id in self.promised:
            self.promised.discard(fact.run_id)
            self.word = event.pos

    def _apply_order(self, fact: events.Fact, event: Event) -> None:
        match fact:
            case events.DrainRequested():
                self.drain = event.pos
            case engine_events.PauseRequested():
                self.paused[fact.lane] = fact.reason or "paused by a person"
            case engine_events.PauseEnded():
                self.paused.pop(fact.lane, None)
                if starts := self.starts.get(fact.lane):
                    starts.may_go_on()
            case engine_events.HaltRequested():
                if not self.runs.get(fact.run_id, Run(lane="", begun_ms=0)).stop_reason:
                    self.halts[fact.run_id] = fact.why
            case engine_events.LimitHit():
                if run := self.runs.get(fact.run_id):
                    run.limit = quota.key_of(fact).path
            case engine_events.LimitLifted():
                self._let_go_of(quota.key_of(fact).path)
            case engine_events.UnitCleared():
                self._clear_unit(fact, event)
            case engine_events.DecisionAnswered() | engine_events.IncidentFound():
                self.incidents.hear(fact)
            case _:
                return
        self.word = event.pos

    def _apply_run(self, fact: events.Fact, event: Event) -> None:
        match fact:
            case events.RunBegun():
                failed = self._forget_dead_runs(fact.lane)
                self.runs[fact.run_id] = Run(lane=fact.lane, begun_ms=event.at_ms, failed=failed)
                self._hand_on_tries(failed, fact.run_id)
                self.starts.setdefault(fact.lane, Starts()).working = fact.run_id
            case events.UnitClaimed():
                self._run(fact.run_id, fact.lane, event).unit = fact.unit
                unit = self._unit(fact.unit)
                unit.claimed_by, unit.missed, unit.is_over, unit.left_now = fact.run_id, False, False, False
                unit.deaths += fact.repeated
                unit.saved = unit.saved if fact.repeated else []
            case events.AgentStarted():
                self._run(fact.run_id, fact.lane, event).limit = ""
            case events.AgentEnded():
                unit = self._unit(fact.unit)
                unit.claim, unit.outcome = fact.claim, fact.outcome
            case events.UnitAttempted():
                self._note_attempt(fact, event)
            case events.WorkMeasured() if fact.verdict != "DELIVERED":
                # That its provider had no room says nothing about the unit.
                unit = self._unit(fact.unit)
                if unit.outcome not in NO_ROOM or fact.commits or unit.saved:
                    self._run(fact.run_id, fact.lane, event).missed = self._missed(fact.unit, fact.reason)
            case events.LandingIntended():
                self._unit(fact.unit).intended = fact
            case events.LandingRefused():
                unit = self._unit(fact.unit)
                unit.intended, unit.refused = None, unit.refused + 1
                unit.refusals = [*unit.refusals, fact.reason][-REFUSALS_KEPT:]
                self._run(fact.run_id, fact.lane, event).missed = self._missed(fact.unit, fact.reason)
            case events.UnitLanded():
                unit = self._unit(fact.unit)
                unit.landed, unit.landed_on, unit.landed_ms = fact.commit, fact.branch, event.at_ms
                unit.intended, unit.claimed_by, unit.saved, unit.failures = None, "", [], 0
                run = self._run(fact.run_id, fact.lane, event)
                run.landed, run.landed_ms, run.flagged, run.missed = run.landed + 1, event.at_ms, False, ""
            case engine_events.RunParked() | engine_events.RunUnparked():
                self._run(fact.run_id, fact.lane, event).parked = isinstance(fact, engine_events.RunParked)
            case engine_events.SpinFlagged():
                self._run(fact.run_id, fact.lane, event).flagged = True
            case events.WorkSalvaged():
                self.salvaged = [*self.salvaged, fact.ref][-ENDED_RUNS_KEPT:]
                at_work = self.runs.get(fact.run_id)
                if at_work and at_work.unit and not fact.why.startswith(events.EARLIER):
                    self._saved(at_work.unit, fact.ref)
            case events.IterationCommitted():
                run = self._run(fact.run_id, fact.lane, event)
                run.iterations, run.unit = fact.iteration, ""
                if fact.unit:
                    unit = self._unit(fact.unit)
                    unit.claimed_by, unit.deaths = "", 0
            case events.RunStopped():
                self._stop(self._run(fact.run_id, fact.lane, event), fact, event)
            case engine_events.FleetFound():
                adopted = {line.rpartition(": ")[0] for line in fact.adopted}
                for run in self.runs.values():
                    run.told = run.told or run.lane not in adopted

    def _stop(self, run: Run, fact: events.RunStopped, event: Event) -> None:
        self._leave_unit(run, fact.run_id)
        run.stop_reason, run.stop_detail, run.needs = fact.stop_reason, fact.reason, fact.needs
        run.stopped_ms = event.at_ms
        self.halts.pop(fact.run_id, None)
        if not fact.lane:
            return
        starts = self.starts.setdefault(fact.lane, Starts())
        starts.stopped = Stopped(
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
        starts.working = "" if starts.working == fact.run_id else starts.working
        starts.told_to_wait_ms = event.at_ms if fact.needs == Needs.TIME else 0
        self._forget_old_runs()

    def _note_attempt(self, fact: events.UnitAttempted, event: Event) -> None:
        unit = self._unit(fact.unit)
        unit.tried = Tried(run_id=fact.run_id, outcome=fact.outcome, at_ms=event.at_ms, text=fact.text)
        if unit.claimed_by == fact.run_id:  # it has come to the end of its try, so it did not die at the unit
            unit.is_over, unit.deaths = True, 0
        has_failed = fact.outcome != Outcome.SHIPPED
        unit.failures = unit.failures + 1 if has_failed else 0
        if run := self.runs.get(fact.run_id):
            run.failed = [*(each for each in run.failed if each != fact.unit), *([fact.unit] if has_failed else [])]

    def _hand_on_tries(self, failed: list[str], run_id: str) -> None:
        """To the run that goes on after a dead one, with what that had counted."""
        for name in failed:
            unit = self._unit(name)
            if unit.tried:
                unit.tried = structs.replace(unit.tried, run_id=run_id)

    def _clear_unit(self, fact: engine_events.UnitCleared, event: Event) -> None:
        unit = self._unit(fact.unit)
        unit.tried, unit.failures, unit.deaths, unit.cleared_ms = None, 0, 0, event.at_ms
        if starts := self.starts.get(fact.lane):
            starts.told_to_wait_ms, starts.woken_ms = 0, event.at_ms

    def _let_go_of(self, limit: str) -> None:
        """The lanes whose last run ended at this limit."""
        for starts in self.starts.values():
            if starts.stopped and starts.stopped.limit == limit:
                starts.may_go_on()

    def _run(self, run_id: str, lane: str, event: Event) -> Run:
        """One that names no lane is a loop by hand: no worker's, and nothing that a supervisor would find or resume."""
        made = Run(lane=lane, begun_ms=event.at_ms)
        return self.runs.setdefault(run_id, made) if lane or run_id in self.runs else made

    def _unit(self, name: str) -> Unit:
        return self.units.setdefault(name, Unit())

    def _starts(self, lane: str, event: Event) -> Starts:
        starts = self.starts.setdefault(lane, Starts())
        starts.version = event.ver
        return starts

    def _missed(self, name: str, why: str) -> str:
        """In words, for people."""
        unit = self._unit(name)
        how = f"its agent ended with {unit.outcome}: " if unit.outcome not in ("", Ending.OK) else ""
        where = f"; its work is on {', '.join(unit.saved)}" if unit.saved else ""
        unit.tries, unit.missed = [*unit.tries, f"{how}{why}{where}"][-TRIES_KEPT:], True
        return f"{name}: {how}{why}"

    def _note_left(self, fact: events.Fact) -> None:
        """What an agent forgot to commit counts until another try has gone on from it, or the unit landed."""
        match fact:
            case events.WorkSalvaged() if fact.kept_for:
                unit = self._unit(fact.kept_for)
                unit.left, unit.left_now = fact.commit, True
            case events.WorkMeasured() | events.UnitLanded():
                unit = self._unit(fact.unit)
                unit.left = unit.left if unit.left_now and isinstance(fact, events.WorkMeasured) else ""

    def _saved(self, name: str, ref: str) -> None:
        unit = self._unit(name)
        if unit.missed and unit.tries:
            unit.tries[-1] += f", {ref}" if unit.saved else f"; its work is on {ref}"
        unit.saved.append(ref)

    def _leave_unit(self, run: Run, run_id: str) -> None:
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
        for run_id in [run_id for run_id, run in self.runs.items() if run.lane == lane and not run.stop_reason]:
            failed += self.runs.pop(run_id).failed
            self.halts.pop(run_id, None)
        return list(dict.fromkeys(failed))
