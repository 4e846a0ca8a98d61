"""The fleet as the journal, git, the plans and the system show it now, as one value."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from dos import times
from dos.backlog import cooldown, pickable
from dos.baseline import gate
from dos.config.schema import Config
from dos.fleet import worker_health
from dos.fleet.effects import Backlog, CannotStart
from dos.fleet.population import reconcile
from dos.fleet.state.entries import DEATHS_KEPT, LaneStarts, LastStop, UnitState
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.held_units import Hold, holds
from dos.fleet.state.live import Parked, Pause
from dos.fleet.worker_health import LaneHolders
from dos.lanes.parts import LanesWithParts
from dos.lease import Lease
from dos.limits.quota import AgentCandidate, Limit
from dos.loop import tokens
from dos.loop.verdicts import liveness
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import FailedUnit, LaneFailed, LaneStopped, UnitsFailed
from dos.questions.state import Decisions, waiting_subjects
from dos.questions.units import UnitUndone
from dos.units.unit import Unit


class Observation(Struct, frozen=True, kw_only=True, dict=True):
    """What is known of the fleet at one moment. Everything else about it follows from this."""

    config: Config
    state: FleetState
    on_target: FleetState  # the same, corrected by what the target branch shows
    units: Sequence[Unit]  # declared by the approved texts of the plans
    answers: Decisions
    leases: Mapping[str, Lease]  # by lane; those that have not expired
    backlogs: Mapping[str, Backlog]  # of the roster's lanes
    now_ms: int
    target_problem: str = ""  # why the target branch could not be read
    unapproved: Sequence[Unit] = ()  # declared only by edits that are not approved
    is_gone: Callable[[Lease], bool]  # its process has exited, as its own system says
    holders: LaneHolders = LaneHolders()
    parked: Mapping[str, Parked] = {}  # run -> what it or its agent waits for
    pauses: Mapping[str, Pause] = {}  # by lane; "": the whole fleet
    cannot_start: Mapping[str, CannotStart] = {}  # the lanes on which no agent may start
    limits: Mapping[str, Limit] = {}  # by the stream of their key
    agents: Sequence[AgentCandidate] = ()  # all that the lanes may use
    new_logins: Sequence[Limit] = ()  # login limits whose credentials have changed since
    changed_texts: Sequence[AnyQuestion] = ()  # about plans and settings with unapproved edits
    where: str = ""  # this checkout, as approvals name it
    baseline: gate.Plan = gate.Plan(step=gate.Step.CLEAR)  # of this host
    has_no_plans: bool = False  # no plan declares a unit: workers bring their own work

    def starts(self, lane: str) -> LaneStarts:
        """The starts of a lane, empty where it was never started."""
        return self.state.starts.get(lane) or LaneStarts()

    def open_units(self, lane: str) -> Sequence[str]:
        """The lane's units that have not landed."""
        backlog = self.backlogs.get(lane)
        if backlog is None or backlog.completion is None:
            return ()
        return backlog.completion.residual

    # Workers

    def is_worker(self, lease: Lease) -> bool:
        """Whether a worker holds the lease as its own lane.

        A lease on the plan documents during a replan is no second worker, and a person is none.
        Where no plan declares a unit, every holder counts as a worker: its work is not known.
        """
        if self.has_no_plans:
            return True
        run = self.state.runs.get(lease.run_id)
        return bool(lease.run_id) and (run is None or run.lane == lease.lane)

    def working_on(self, lane: str) -> str:
        """What the lane's live worker does, in words; empty where there is none.

        A worker that waits counts too: it holds the lane, and `is_parked` says that it waits.
        """
        lease = self.leases.get(lane)
        if lease is None or not self.is_worker(lease) or self.is_dead(lease):
            return "a worker was started" if self.holders.launched.get(lane) else ""
        if unit := self.unit_of(lease):
            return f"its worker works on {unit}"
        return "its worker chooses a unit"

    def unit_of(self, lease: Lease) -> str:
        """The unit that the run of the lease has claimed; empty where it has none."""
        run = self.state.runs.get(lease.run_id)
        return run.unit if run else ""

    @cached_property
    def live_runs(self) -> set[str]:
        """The runs that hold a lane and whose worker is not dead."""
        return {lease.run_id for lease in self.leases.values() if not self.is_dead(lease)} - {""}

    def is_parked(self, lane: str) -> bool:
        """Whether the lane's worker, or the worker's agent, waits."""
        lease = self.leases.get(lane)
        return lease is not None and lease.run_id in self.parked and not self.is_dead(lease)

    def is_dead(self, lease: Lease) -> bool:
        """Whether the holder of the lease is dead, by the last look at it or by its process."""
        health = self.holders.health.get(lease.fence)
        if health is None:
            return self.is_gone(lease)
        return health.answer is liveness.Answer.STALLED

    @cached_property
    def claimed(self) -> set[str]:
        """The units that a live run works on."""
        units = self.state.units.items()
        return {name for name, unit in units if unit.claimed_by in self.live_runs}

    # Units

    @cached_property
    def lanes_in_parts(self) -> set[str]:
        """The repeatable lanes of which a part has units that have not landed."""
        whole_of = self.config.lanes.whole_of
        return {whole_of(lane) for lane in self.backlogs if self.open_units(lane)} - {""}

    @property
    def landed_parts(self) -> set[str]:
        """The parts of repeatable lanes whose unit has landed, and that nobody holds."""
        lanes = self.config.lanes
        if not isinstance(lanes, LanesWithParts):
            return set()
        return lanes.parts.keys() - lanes.placed - self.leases.keys()

    @cached_property
    def unfinished(self) -> dict[str, Unit]:
        """The declared units that have not landed."""
        unfinished = {}
        for unit in self.units:
            if not self.on_target.units.get(unit.name, UnitState()).landed:
                unfinished[unit.name] = unit
        return unfinished

    @cached_property
    def undone(self) -> dict[str, str]:
        """The units that landed and that git no longer shows, each with why."""
        return {name: unit.undone for name, unit in self.on_target.units.items() if unit.undone}

    @cached_property
    def unstaffed(self) -> dict[str, str]:
        """The unfinished units whose lane never gets a worker, each with why and what to do."""
        reasons = {}
        for name, unit in self.unfinished.items():
            if why := worker_health.why_unstaffed(unit, self.config):
                reasons[name] = f"{why}; {worker_health.how_to_staff(unit, self.config)}"
        return reasons

    @cached_property
    def unasked_failures(self) -> dict[str, UnitsFailed]:
        """The units that failed and that no question is about yet, each with the question."""
        questions: dict[str, UnitsFailed] = {}
        for lane in self.backlogs:
            question = self.question_about_stop(lane)
            if isinstance(question, UnitsFailed) and not self.answers.knows(question.id):
                questions |= dict.fromkeys(question.units, question)
        return questions

    @cached_property
    def lane_of(self) -> dict[str, str]:
        """The lanes of the unfinished units."""
        lanes = {}
        for name, unit in self.unfinished.items():
            if lane := worker_health.lane_of(unit, self.config):
                lanes[name] = lane
        return lanes

    @cached_property
    def held_units(self) -> dict[str, Hold]:
        """The units that a question holds."""
        return holds(self.unfinished.values(), self.state, self.answers)

    @cached_property
    def verdicts(self) -> dict[str, pickable.Verdict]:
        """The verdicts on the units that may not be offered."""
        verdicts = {}
        for backlog in self.backlogs.values():
            for verdict in backlog.held:
                verdicts[verdict.unit] = verdict
        return verdicts

    @cached_property
    def on_cooldown(self) -> dict[str, cooldown.Verdict]:
        """The verdicts on the units that are on cooldown."""
        verdicts = {}
        for backlog in self.backlogs.values():
            for verdict in backlog.on_cooldown:
                verdicts[verdict.unit_id] = verdict
        return verdicts

    # Starts that failed

    def why_failing(self, lane: str) -> str:
        """That too many workers of the lane died, in words; empty where they did not.

        Also empty for a lane that is disabled already.
        """
        deaths = self._recent_deaths(lane)
        if len(deaths) < self._most_deaths or self.starts(lane).failed:
            return ""
        return f"{len(deaths)} workers died in a row; `dos logs {lane}` shows why"

    @cached_property
    def failed_parts(self) -> dict[str, str]:
        """Of each lane the first part that is disabled because its workers die, or the whole."""
        failed: dict[str, str] = {}
        for lane in self.backlogs:
            if self.starts(lane).failed:
                failed.setdefault(self.config.lanes.whole_of(lane) or lane, lane)
        return failed

    def backoff_ends_ms(self, lane: str) -> int:
        """When the next worker may be started after one died; 0: at once."""
        deaths = self._recent_deaths(lane)
        if not deaths:
            return 0
        policy = self.config.supervise
        # Short enough for the allowed number of deaths to fit into the period.
        longest_ms = policy.restart_period_seconds * 1000 / (2 * self._most_deaths)
        pauses = times.exponential_backoff(policy.restart_backoff_seconds * 1000, cap=longest_ms)
        return self.starts(lane).at_ms + int(pauses.delay(len(deaths)))

    def _recent_deaths(self, lane: str) -> list[int]:
        """When the workers were started that died within the period of [supervise]."""
        period_ms = self.config.supervise.restart_period_seconds * 1000
        starts_ms = self.starts(lane).unended.values()
        return [start_ms for start_ms in starts_ms if self.now_ms - start_ms < period_ms]

    def died_workers(self, lane: str) -> list[int]:
        """When the workers of the lane were started that died without a stop and hold no lease.

        A start by a person, and an end of a pause, forget them.
        """
        starts = self.starts(lane)
        alive = {lease.run_id for lease in self.leases.values()}
        if starts.pending or self.holders.launched.get(lane):
            alive.add(starts.run_id)
        return [start_ms for run_id, start_ms in starts.unended.items() if run_id not in alive]

    @property
    def _most_deaths(self) -> int:
        """How many deaths disable a lane; no more of them are kept in the state."""
        return min(self.config.supervise.restart_intensity, DEATHS_KEPT)

    # Questions

    def question_about_undone(self, unit: str) -> UnitUndone:
        """The question about a unit that landed and that git no longer shows."""
        return UnitUndone.ask(
            unit,
            commit=self.state.units[unit].landed,
            why=self.undone[unit],
            lane=self.lane_of.get(unit, ""),
        )

    def question_about_deaths(self, lane: str) -> LaneFailed | None:
        """The question about a lane that is disabled, or about to be."""
        starts = self.starts(lane)
        if starts.failed:
            return self._new_failure(lane, starts.failed, ordinal=max(starts.times_failed, 1))
        if why := self.why_failing(lane):
            return self._new_failure(lane, why, ordinal=starts.times_failed + 1)
        return None

    def _new_failure(self, lane: str, reason: str, *, ordinal: int) -> LaneFailed:
        """Return the first question from `ordinal` on that was not answered and tried since.

        A person may answer before the lane is disabled; then that time was not counted.
        """
        question = LaneFailed.ask(lane, reason, ordinal=ordinal)
        while self._was_tried_since(question):
            ordinal += 1
            question = LaneFailed.ask(lane, reason, ordinal=ordinal)
        return question

    def _was_tried_since(self, question: LaneFailed) -> bool:
        """Whether it was answered, and its lane could be started after that."""
        answered = self.answers.answered.get(question.id)
        if answered is None:
            return False
        is_released = answered.taken is not None and answered.taken.releases
        return is_released or answered.answered_ms < self.state.started_ms

    def question_about_stop(self, lane: str) -> LaneStopped | UnitsFailed | None:
        """The question about the lane's last run; None where no person is needed."""
        stopped = self.starts(lane).stopped
        if stopped is None or lane in self.leases or not self._needs_answer(stopped, lane):
            return None
        question_id = LaneStopped.id_of(stopped.run_id)
        failed = self._failed_units(lane, stopped.failed, besides=question_id)
        if reconcile.holds_only_units(stopped.reason, stopped.failed):
            return UnitsFailed.ask(lane, stopped.run_id, failed) if failed else None
        reason = f"{tokens.words(stopped.reason)}, {stopped.detail}"
        if stopped.missed:
            reason = f"{reason} (last: {stopped.missed})"
        return LaneStopped.ask(lane, stopped.run_id, reason, failed)

    def _needs_answer(self, stopped: LastStop, lane: str) -> bool:
        """Whether a person has to clear the stop, and no other question asks for it."""
        if not reconcile.is_stuck(stopped.reason, stopped.needs):
            return False
        is_known = stopped.reason in reconcile.STOPPED_BY_PERSON or bool(stopped.limit)
        return not is_known and bool(self.open_units(lane))

    def _failed_units(self, lane: str, tried: Sequence[str], *, besides: str) -> list[FailedUnit]:
        """Return the lane's units that failed and that only the question `besides` is about.

        They failed in the lane's last run (`tried`), or are on cooldown.
        """
        on_cooldown = [verdict.unit_id for verdict in self.backlogs[lane].on_cooldown]
        asked_about = waiting_subjects(self.answers, besides=besides)
        failed = []
        for name in dict.fromkeys([*tried, *on_cooldown]):
            unit = self.state.units.get(name, UnitState())
            attempt = unit.last_attempt
            if attempt is None or name not in self.open_units(lane):
                continue
            if subject.Unit(name) in asked_about:
                continue
            declared = self.unfinished.get(name)
            if declared and attempt.text and attempt.text != declared.fingerprint:
                continue  # it was rewritten, so that no attempt counts
            why = unit.tries[-1] if unit.tries else attempt.outcome
            failed.append(FailedUnit(unit=name, tries=unit.failures, why=why, text=attempt.text))
        return failed
