"""Checks that a person's answer takes effect at the next tick of a supervisor.

The lane that waited for it is started, or the fleet reports what else it waits for; and nothing
that the answer releases still holds the lane. An answer about one host or one checkout is checked
only at the tick of a supervisor there: the others cannot act on it.
"""

from collections.abc import Iterable

from msgspec import Struct

from dos.approval.io.texts import document_digest
from dos.backlog.io.target import apply_shown_units
from dos.baseline import gate
from dos.choices import ChoiceName
from dos.fleet import waits
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.state import held_units
from dos.journal.events.envelope import Event
from dos.lanes.parts import lane_of
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import SettingsChanged, TextChanged
from dos.questions.question import Choice, ClearLane, ClearUnit, Consequence, LiftLimit
from dos.questions.resources import BaselineFailed, BudgetSpent
from dos.questions.state import OpenQuestion
from dos.questions.units import Incident, UnitHeld, UnitUndone
from dos.testing.simulator.supervisor_effects import NO_WORK, SupervisorEffects, Tick
from dos.testing.simulator.world import invariants
from dos.testing.simulator.world.invariants import InvariantBroken
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.workspace import HostTexts


class Answer(Struct, frozen=True, kw_only=True):
    """An answer of a person that no supervisor has acted on yet."""

    position: int
    asked_ms: int
    at_ms: int
    question: AnyQuestion
    choice: Choice
    lanes: frozenset[str]  # that waited for it, or have a unit that did


class AnswerChecker:
    """Follows each answer until a supervisor has acted on it.

    A tick is checked twice: after the observation, for what still holds the lane, and at its end,
    for whether the lane was started.
    """

    def __init__(self, site: Site, fleets: SupervisorEffects) -> None:
        self.site = site
        self.fleets = fleets
        self._pending: list[Answer] = []
        self._ticks: dict[int, Tick] = {}  # by supervisor, during its tick
        # checkout -> the newest answer that its dos.toml is to be used
        self._settings: dict[str, Answer] = {}
        self._started: dict[str, int] = {}  # lane -> position of its newest start
        fleets.on_observe = self.on_observe
        fleets.on_tick_end = self.on_tick_end
        fleets.on_spawn = self.on_spawn

    def record_answer(self, event: Event, asked: OpenQuestion, choice: Choice) -> None:
        """Follow the answer, if a lane or one of its units waited for it."""
        question = asked.question
        lanes = frozenset(self._lanes(question))
        if lanes:
            answer = Answer(
                position=event.pos,
                asked_ms=asked.at_ms,
                at_ms=event.at_ms,
                question=question,
                choice=choice,
                lanes=lanes,
            )
            self._pending.append(answer)
            if isinstance(question, SettingsChanged):
                self._settings.pop(question.where, None)
                if choice.name == ChoiceName.USE:
                    self._settings[question.where] = answer

    def record_start(self, event: Event, lane: str) -> None:
        """Remember that a worker of the lane is started by this event."""
        self._started[lane] = event.pos

    def _lanes(self, question: AnyQuestion) -> Iterable[str]:
        """Yield the lanes that the question holds up; a question about all of them yields each."""
        if isinstance(question, TextChanged):
            yield from self.site.workspace.config.roster()
        for each in question.subjects:
            match each:
                case subject.Lane(name):
                    yield name
                case subject.Unit(name):
                    for unit in self.site.all_units():
                        if unit.name == name:
                            yield lane_of(self.site.workspace.config.lanes, unit) or unit.lane
                case subject.RunSubject(run_id) if run := self.site.fleet.runs.get(run_id):
                    yield run.lane
                case subject.Fleet() | subject.Host() | subject.Limit():
                    yield from self.site.workspace.config.roster()

    def on_observe(self, process: Process, tick: Tick) -> None:
        """Check, after a supervisor's observation, that nothing the answers release still holds."""
        self._ticks.pop(process.pid, None)
        answers = self._concerning(process, tick)
        if answers:
            self._ticks[process.pid] = tick
        for answer in answers:
            for lane in answer.lanes - tick.fleet.leases.keys():
                why = self._missed_unit(process, tick.seen, lane) or self._still_held(
                    tick, answer, lane
                )
                if why:
                    raise InvariantBroken(
                        invariants.TAKES_EFFECT, f"after {_describe(answer)} {why}"
                    )

    def on_tick_end(self, process: Process) -> None:
        """Check, after a supervisor's tick, that each lane was started or waits for something."""
        tick = self._ticks.pop(process.pid, None)
        if tick is None:
            return
        fleet = tick.fleet
        target = self.site.workspace.target
        if fleet.drain_requested:
            target = 0
        policy = self.site.workspace.config.supervise.policy()
        plan = reconcile.plan(fleet.lanes, target, policy, failing=fleet.failing_lanes)
        waiting = waits.with_obstacles(tick.seen, fleet.waits, plan.obstacles).lanes
        for answer in self._concerning(process, tick):
            self._pending.remove(answer)
            for lane in answer.lanes - fleet.leases.keys():
                is_done = lane not in waiting or tick.seen.working_on(lane)
                if not (is_done or waiting[lane] or self._has_moved(tick, lane)):
                    raise InvariantBroken(
                        invariants.TAKES_EFFECT,
                        f"after {_describe(answer)} no worker is started on lane {lane}",
                    )

    def _concerning(self, process: Process, tick: Tick) -> list[Answer]:
        """Return the answers that this supervisor has to act on: of a host, only its own does."""
        answers = []
        for answer in self._pending:
            is_known = answer.position <= tick.position
            if is_known and self._is_addressed(process, tick, answer.question):
                answers.append(answer)
        return answers

    def _is_addressed(self, process: Process, tick: Tick, question: AnyQuestion) -> bool:
        """Whether this supervisor is the one that has to act on an answer to the question."""
        if isinstance(question, BaselineFailed):
            return question.host == process.host.name
        if isinstance(question, TextChanged):
            return question.where == tick.seen.where
        return True

    def _has_moved(self, tick: Tick, lane: str) -> bool:
        """Whether another process started the lane since, or made this supervisor's start fail."""
        if self._started.get(lane, 0) > tick.position:
            return True
        starts = self.site.fleet.starts.get(lane)
        return starts is not None and starts.version != tick.fleet.versions.get(lane, 0)

    def _missed_unit(self, process: Process, seen: Observation, lane: str) -> str:
        """Return which open unit the supervisor does not see in the lane; "" for none.

        The lane is surveyed anew, because a supervisor reuses its survey while nothing has changed.
        """
        shown = apply_shown_units(
            self.site.fleet, self.site.branch_view(process).shown, self.site.decisions
        )
        now = self.fleets.workers.backlog(
            self.site.units_on(process.host), shown, lane, seen.now_ms
        )
        offered = {unit.name for unit in seen.backlogs.get(lane, NO_WORK).open}
        missed = {unit.name for unit in now.open} - offered
        if not missed:
            return ""
        return f"a supervisor does not see {min(missed)}"

    def _still_held(self, tick: Tick, answer: Answer, lane: str) -> str:
        """Return what the answer should have released and still holds the lane; "" for nothing."""
        if any(wait.question == answer.question.id for wait in tick.fleet.waits.all_waits()):
            return "the question still holds something"
        seen = tick.seen
        if isinstance(answer.question, TextChanged):
            return self._text_ignored(answer.question, answer, seen)
        if isinstance(answer.question, Incident) and answer.choice.name == ChoiceName.KEEP:
            return self._still_to_do(answer.question, seen)
        if not answer.choice.releases:
            return ""
        for effect in answer.choice.effects:
            held = _without_effect(effect, answer, lane, seen)
            if held:
                return held
        return self._question_remains(answer, lane, seen)

    def _question_remains(self, answer: Answer, lane: str, seen: Observation) -> str:
        """Return why the question would be asked again about the same facts; "" if settled."""
        match answer.question:
            case UnitUndone(unit=unit) as undone if unit in seen.undone:
                if seen.question_about_undone(unit).id == undone.id:
                    return f"{unit} is still undone"
            case UnitHeld(unit=unit) as held if unit in seen.verdicts and unit in seen.unfinished:
                if _is_held(seen, held):
                    return f"{unit} is still held"
            case TestsChanged() as changed if answer.choice.name == ChoiceName.ACCEPT:
                return self._lost_landing(changed, lane, seen)
            case BaselineFailed() as failed if seen.baseline.step is gate.Step.WAIT:
                if self._is_about_now(failed, answer):
                    return f"{failed.host} still waits"
            case BudgetSpent() as spent:
                room = seen.cannot_start.get(lane)
                if room and _asks_again(room.questions, spent):
                    return f"the budget of {spent.account} is unchanged"
        return ""

    def _lost_landing(self, changed: TestsChanged, lane: str, seen: Observation) -> str:
        """Return that accepted commits are not to land; "" if they are, or were refused since."""
        unit = self.site.fleet.units.get(changed.unit)
        is_open = changed.unit in seen.unfinished and unit is not None and not unit.landed
        if not is_open or unit is None or unit.refused != changed.refused:
            return ""
        pending = seen.backlogs.get(lane, NO_WORK).pending_landings
        if any(
            landing.tests_accepted and landing.landing.unit == changed.unit for landing in pending
        ):
            return ""
        return f"the commits of {changed.unit} are not to land"

    def _text_ignored(self, changed: TextChanged, answer: Answer, seen: Observation) -> str:
        """Return how the answer about a text was ignored; "" if it was not.

        A text that a person wants is used, and no other one, unless `dos up` approved it since.
        """
        is_unused = any(question.id == changed.id for question in seen.changed_texts)
        if answer.choice.name == ChoiceName.USE:
            return f"{changed.document} is not used" if is_unused else ""
        texts = self._texts_at(changed.where)
        on_disk = texts.on_disk(changed.document)
        if document_digest(on_disk) != changed.digest or texts.approved_ms >= answer.asked_ms:
            return ""
        is_committed = on_disk == self.site.repository.documents[changed.document]
        if is_unused or is_committed:
            return ""
        return f"{changed.document} is used"

    def _texts_at(self, where: str) -> HostTexts:
        """Return the texts of the checkout."""
        return next(texts for texts in self.site.texts.values() if texts.where == where)

    def on_spawn(self, process: Process, settings: str | None) -> None:
        """Check that a worker is started with the settings that a person wants used."""
        texts = self.site.texts.get(process.host.name)
        used = self._settings.get(texts.where) if texts else None
        if texts is None or used is None or texts.approved_ms >= used.asked_ms:
            return
        changed = used.question
        assert isinstance(changed, SettingsChanged)
        if document_digest(texts.dos_toml.on_disk) == changed.digest != document_digest(settings):
            raise InvariantBroken(
                invariants.TAKES_EFFECT, f"after {_describe(used)} a worker is started without it"
            )

    def _still_to_do(self, incident: Incident, seen: Observation) -> str:
        """Return which unit is offered although a person keeps its commits; "" for none.

        The unit is done only as long as the commits are there.
        """
        named = self.site.repository.named
        for unit in incident.units:
            if named.get(unit) in incident.commits and unit in seen.unfinished:
                return f"{unit} is still to be done"
        return ""

    def _is_about_now(self, failed: BaselineFailed, answer: Answer) -> bool:
        """Whether no check has failed since and the branch has not moved.

        An answer about a failed baseline holds for one tree only.
        """
        checks = self.site.baselines.checks
        times = [check.at_ms for check in checks if check.host == failed.host]
        return failed.tree == self.site.repository.target and max(times, default=0) < answer.at_ms


def _without_effect(effect: Consequence, answer: Answer, lane: str, seen: Observation) -> str:
    """Return what a consequence of the answer should have released and did not; "" for nothing."""
    starts = seen.starts(lane)
    match effect:
        case ClearUnit(unit=unit):
            on_cooldown = {rest.unit_id for rest in seen.backlogs.get(lane, NO_WORK).on_cooldown}
            if unit in on_cooldown and not _tried_since(seen, unit, answer):
                return f"{unit} is still on cooldown"
        case ClearLane(lane=name) if name == lane:
            if starts.failed:
                return f"lane {lane} is still disabled"
            if starts.stopped and starts.stopped.at_ms < answer.at_ms:
                return f"lane {lane} is still held by how its last run ended"
        case LiftLimit(key=key):
            limit = seen.limits.get(key.path)
            if limit and limit.ending and limit.hit_ms < answer.at_ms:
                return f"{key} is still limited"
    return ""


def _tried_since(seen: Observation, unit: str, answer: Answer) -> bool:
    """Whether an attempt on the unit has ended since the answer."""
    known = seen.state.units.get(unit)
    return (
        known is not None
        and known.last_attempt is not None
        and known.last_attempt.at_ms >= answer.at_ms
    )


def _is_held(seen: Observation, held: UnitHeld) -> bool:
    """Whether the unit is held for the reason that the question was about, not for a later one."""
    unit = seen.unfinished[held.unit]
    return held_units.about_held(unit, seen.verdicts[held.unit], seen.state).id == held.id


def _asks_again(questions: Iterable[AnyQuestion], spent: BudgetSpent) -> bool:
    """Whether one of the questions is about the same budget, which was not raised."""
    budget = (spent.account, spent.measure, spent.limit)
    others = [question for question in questions if isinstance(question, BudgetSpent)]
    return any((other.account, other.measure, other.limit) == budget for other in others)


def _describe(answer: Answer) -> str:
    """Return the answer as the beginning of a sentence about what went wrong after it."""
    return f"{answer.question.id} was answered with {answer.choice.name}"
