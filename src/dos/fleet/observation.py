"""The fleet as a tick sees it: what the journal, git, the plans and the system say now. Whoever looks gets one."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from dos import times
from dos.backlog import cooldown, pickable
from dos.baseline import gate
from dos.config.schema import Config
from dos.fleet import choose_agent, lane_entries
from dos.fleet.effects import Backlog, CannotStart
from dos.fleet.lane_entries import LaneHolders
from dos.fleet.population import reconcile
from dos.fleet.population.reconcile import NO_ROOM_STOP
from dos.fleet.state import held_units as asked_units
from dos.fleet.state.entries import DEATHS_KEPT, LaneStarts, UnitState
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.held_units import Hold
from dos.fleet.state.live import Parked, Pause
from dos.lease import Lease
from dos.limits.quota import AgentCandidate, Limit
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import Spend
from dos.loop import tokens
from dos.loop.verdicts.liveness import Answer as Liveness
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import FailedUnit, LaneFailed, LaneStopped, UnitsFailed
from dos.questions.state import Decisions, waiting_subjects
from dos.questions.units import UnitUndone
from dos.units.unit import Unit


class Observation(Struct, frozen=True, kw_only=True, dict=True):
    """What the journal and git say now."""

    config: Config
    state: FleetState
    on_target: FleetState  # the same, with what the target branch shows in the place of what the journal remembers
    units: Sequence[Unit]  # that the plans declare, by the texts that count
    answers: Decisions
    leases: Mapping[str, Lease]  # by lane; those whose time is not over
    backlogs: Mapping[str, Backlog]  # of the roster's lanes
    now_ms: int
    target_problem: str = ""  # why the target branch could not be read
    unapproved: Sequence[Unit] = ()  # declared only by what is on disk as nobody approved it
    is_gone: Callable[[Lease], bool]  # its process, by the word of its own system
    holders: LaneHolders = (
        LaneHolders()
    )  # who holds a lane or is on the way to one, and how each stands
    parked: Mapping[str, Parked] = {}  # run -> what it waits for, or its agent does
    pauses: Mapping[str, Pause] = {}  # by lane; under no name, the whole fleet's
    cannot_start: Mapping[
        str, CannotStart
    ] = {}  # lanes on which no agent may be started now, and why
    limits: Mapping[str, Limit] = {}  # by the stream of their key
    agents: Sequence[AgentCandidate] = ()  # all that the lanes may be worked on by
    new_logins: Sequence[
        Limit
    ] = ()  # that nobody was logged in for, and somebody has logged in since
    changed_texts: Sequence[
        AnyQuestion
    ] = ()  # plans and settings that are on disk as nobody approved them
    where: str = ""  # this checkout, as approvals name it
    baseline: gate.Plan = gate.Plan(step=gate.Step.CLEAR)  # of this host
    has_no_plans: bool = False  # no plan declares anything: whoever is started brings work along

    def starts(self, lane: str) -> LaneStarts:
        return self.state.starts.get(lane) or LaneStarts()

    def open_units(self, lane: str) -> Sequence[str]:
        """The lane's units that have not landed."""
        found = self.backlogs.get(lane)
        return found.completion.residual if found and found.completion else ()

    # Who works

    def is_worker(self, lease: Lease) -> bool:
        """A worker's own lane: what it holds besides, to groom the plans, is no second worker; nor is a person.

        Where no plan declares anything, whoever holds a lane is a worker: its work is not ours to know.
        """
        run = self.state.runs.get(lease.run_id)
        return self.has_no_plans or (bool(lease.run_id) and (run is None or run.lane == lease.lane))

    def working_on(self, lane: str) -> str:
        """What a worker that lives is at on the lane, or that one is on its way there; empty: nobody is."""
        lease = self.leases.get(lane)
        if lease is None or not self.is_worker(lease) or self.is_dead(lease):
            return "a worker was started" if self.holders.launched.get(lane) else ""
        run = self.state.runs.get(lease.run_id)
        return run.unit if run and run.unit else "its worker chooses a unit"

    @property
    def live_runs(self) -> set[str]:
        """The runs that hold a lane."""
        return {lease.run_id for lease in self.leases.values()} - {""}

    def is_parked(self, lane: str) -> bool:
        """Its worker waits, or the worker's agent does."""
        lease = self.leases.get(lane)
        return lease is not None and lease.run_id in self.parked and not self.is_dead(lease)

    def is_dead(self, lease: Lease) -> bool:
        found = self.holders.health.get(lease.fence)
        return found.answer is Liveness.STALLED if found else self.is_gone(lease)

    @cached_property
    def claimed(self) -> set[str]:
        """The units that a run is at which holds a lane."""
        live = {
            lease.run_id
            for lease in self.leases.values()
            if lease.run_id and not self.is_dead(lease)
        }
        return {name for name, unit in self.state.units.items() if unit.claimed_by in live}

    # What units wait for

    @cached_property
    def unfinished(self) -> dict[str, Unit]:
        """The declared units that have not landed."""
        known = self.on_target.units
        return {
            unit.name: unit for unit in self.units if not known.get(unit.name, UnitState()).landed
        }

    @cached_property
    def undone(self) -> dict[str, str]:
        """The units that landed and that git does not show any more, each with why."""
        return {name: unit.undone for name, unit in self.on_target.units.items() if unit.undone}

    @cached_property
    def unstaffed(self) -> dict[str, str]:
        """The units that have not landed on whose lane nobody is ever placed, each with why and what to do."""
        found = {}
        for name, unit in self.unfinished.items():
            if why := lane_entries.why_unstaffed(unit, self.config):
                found[name] = f"{why}; {lane_entries.how_to_staff(unit, self.config)}"
        return found

    @cached_property
    def unasked_failures(self) -> dict[str, UnitsFailed]:
        """The units that failed, and that nobody was asked about yet; each with the question."""
        questions = [self.question_about_stop(lane) for lane in self.backlogs]
        failed = [
            each
            for each in questions
            if isinstance(each, UnitsFailed) and not self.answers.knows(each.id)
        ]
        return {unit: each for each in failed for unit in each.units}

    @cached_property
    def lane_of(self) -> dict[str, str]:
        units = self.unfinished.items()
        return {
            name: lane for name, unit in units if (lane := lane_entries.lane_of(unit, self.config))
        }

    @cached_property
    def held_units(self) -> dict[str, Hold]:
        """By a question."""
        return asked_units.holds(self.unfinished.values(), self.state, self.answers)

    @cached_property
    def verdicts(self) -> dict[str, pickable.Verdict]:
        """Of the units that may not be offered."""
        return {each.unit: each for found in self.backlogs.values() for each in found.held}

    @cached_property
    def on_cooldown(self) -> dict[str, cooldown.Verdict]:
        """Of the units on cooldown."""
        return {
            each.unit_id: each for found in self.backlogs.values() for each in found.on_cooldown
        }

    # What keeps a lane from being started

    def why_failing(self, lane: str) -> str:
        """That too many of its workers died without a word, in words; empty: they did not."""
        recent = self._recent_deaths(lane)
        if len(recent) < self._most_deaths or self.starts(lane).failed:
            return ""
        return f"{len(recent)} workers died one after the other; `dos logs {lane}` says why"

    def backoff_ends_ms(self, lane: str) -> int:
        """When the next worker may be started after one died; 0: at once."""
        recent = self._recent_deaths(lane)
        if not recent:
            return 0
        policy = self.config.supervise
        # Never so long that the deaths that are allowed would not fit into the period.
        longest_ms = policy.restart_period_seconds * 1000 / (2 * self._most_deaths)
        pauses = times.exponential_backoff(policy.restart_backoff_seconds * 1000, cap=longest_ms)
        return self.starts(lane).at_ms + int(pauses.delay(len(recent)))

    def _recent_deaths(self, lane: str) -> list[int]:
        period_ms = self.config.supervise.restart_period_seconds * 1000
        return [at for at in self.starts(lane).unended.values() if self.now_ms - at < period_ms]

    @property
    def _most_deaths(self) -> int:
        return min(self.config.supervise.restart_intensity, DEATHS_KEPT)

    # What to ask about

    def question_about_undone(self, unit: str) -> UnitUndone:
        return UnitUndone.ask(unit, commit=self.state.units[unit].landed, why=self.undone[unit])

    def question_about_deaths(self, lane: str) -> LaneFailed | None:
        """Of a lane that is given up on, or about to be."""
        starts = self.starts(lane)
        if starts.failed:
            return self._about_new_deaths(lane, starts.failed, ordinal=max(starts.times_failed, 1))
        if why := self.why_failing(lane):
            return self._about_new_deaths(lane, why, ordinal=starts.times_failed + 1)
        return None

    def _about_new_deaths(self, lane: str, reason: str, *, ordinal: int) -> LaneFailed:
        """A person may have answered before the lane was given up on, so that nobody counted that time."""
        question = LaneFailed.ask(lane, reason, ordinal=ordinal)
        while self._was_tried_since(question):
            ordinal += 1
            question = LaneFailed.ask(lane, reason, ordinal=ordinal)
        return question

    def _was_tried_since(self, question: LaneFailed) -> bool:
        """It was answered, and its lane was free to be worked on after that."""
        answered = self.answers.answered.get(question.id)
        if answered is None:
            return False
        goes_on = answered.taken is not None and answered.taken.releases
        return goes_on or answered.answered_ms < self.state.started_ms

    def question_about_stop(self, lane: str) -> LaneStopped | UnitsFailed | None:
        """About the lane's last run; None where it needs nobody, or where all there is to say was said."""
        stopped = self.starts(lane).stopped
        if (
            not stopped
            or not reconcile.is_stuck(stopped.reason, stopped.needs)
            or lane in self.leases
        ):
            return None
        # Who stopped it, or what is asked about its limit, says all there is to say.
        if (
            stopped.reason in reconcile.STOPPED_BY_PERSON
            or stopped.limit
            or not self.open_units(lane)
        ):
            return None
        failed = self._failed_units(lane, stopped.failed, besides=LaneStopped.id_of(stopped.run_id))
        if reconcile.holds_only_units(stopped.reason, stopped.failed):
            return UnitsFailed.ask(lane, stopped.run_id, failed) if failed else None
        last = f"; the last was {stopped.missed}" if stopped.missed else ""
        return LaneStopped.ask(
            lane, stopped.run_id, f"{tokens.words(stopped.reason)}, {stopped.detail}{last}", failed
        )

    def _failed_units(self, lane: str, tried: Sequence[str], *, besides: str) -> list[FailedUnit]:
        """The units of a lane that were tried in vain, by its last run or a short while ago, and nobody was asked about
        but by the question `besides`."""
        names = dict.fromkeys([*tried, *(rest.unit_id for rest in self.backlogs[lane].on_cooldown)])
        asked_about = waiting_subjects(self.answers, besides=besides)
        failed = []
        for name in names:
            unit = self.state.units.get(name, UnitState())
            if (
                unit.last_attempt is None
                or name not in self.open_units(lane)
                or subject.Unit(name) in asked_about
            ):
                continue
            declared = self.unfinished.get(name)
            if (
                declared
                and unit.last_attempt.text
                and unit.last_attempt.text != declared.fingerprint
            ):
                continue  # it was rewritten: another unit, which nobody has tried
            why = unit.tries[-1] if unit.tries else unit.last_attempt.outcome
            failed.append(
                FailedUnit(unit=name, tries=unit.failures, why=why, text=unit.last_attempt.text)
            )
        return failed


def lanes_without_agent(
    config: Config,
    agents: Mapping[str, Sequence[Sequence[AgentCandidate]]],
    limits: ProviderLimits,
    spend: Spend,
    state: FleetState,
    *,
    now_ms: int,
) -> dict[str, CannotStart]:
    """The lanes on which no agent may be started: no worker is started either.

    `agents` has the lanes to look at, each with who may do its units: one list for each agent that a unit asks for. A
    lane has room as long as one of its units has an agent. Where a run's own budget is spent it is that run's which
    counts, until somebody has answered.
    """
    found = {}
    for lane, asked_for in agents.items():
        stopped = state.starts.get(lane, LaneStarts()).stopped
        run_id = stopped.run_id if stopped and stopped.reason == NO_ROOM_STOP else ""
        iteration = spend.runs[run_id].iteration if run_id in spend.runs else 0
        rooms = [
            choose_agent.choose(
                config,
                each,
                limits,
                spend,
                run_id=run_id,
                lane=lane,
                iteration=iteration,
                now_ms=now_ms,
            )
            for each in asked_for
        ]
        refusals = [room for room in rooms if isinstance(room, CannotStart)]
        if refusals and len(refusals) == len(rooms):
            found[lane] = choose_agent.first_available(refusals)
    return found
