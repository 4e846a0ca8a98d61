"""An answer takes effect: what a supervisor makes of each answer of a person at its next tick.

Then the lane that waited for it is started, or the fleet says what else it waits for; and nothing that the answer was
to release still holds it.
"""

from collections.abc import Iterable

from msgspec import Struct

from dos.approval.io.texts import document_digest
from dos.backlog.io import target as on_target
from dos.baseline import gate
from dos.choices import ChoiceName
from dos.fleet import waits
from dos.fleet.observation import Observation
from dos.fleet.population import reconcile
from dos.fleet.state import held_units
from dos.journal.events.envelope import Event
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import SettingsChanged, TextChanged
from dos.questions.question import Choice, ClearLane, ClearUnit, LiftLimit
from dos.questions.resources import BaselineFailed, BudgetSpent
from dos.questions.state import OpenQuestion
from dos.questions.units import Incident, UnitHeld, UnitUndone
from dos.testing.simulator import invariants
from dos.testing.simulator.invariants import InvariantBroken
from dos.testing.simulator.supervisor_effects import SupervisorEffects, Tick
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.site import Site


class Answer(Struct, frozen=True, kw_only=True):
    """An answer of a person, until a supervisor has looked."""

    position: int
    asked_ms: int
    at_ms: int
    question: AnyQuestion
    choice: Choice
    lanes: frozenset[str]  # that waited for it, or have a unit that did


class AnswerChecker:
    def __init__(self, site: Site, fleets: SupervisorEffects) -> None:
        self.site = site
        self.fleets = fleets
        self._fresh: list[Answer] = []  # that no supervisor has acted on
        self._ticks: dict[int, Tick] = {}  # by supervisor, while it is at it
        self._settings: dict[
            str, Answer
        ] = {}  # checkout -> the newest answer about dos.toml, where it is to be used
        self._started: dict[str, int] = {}  # lane -> the position of its newest start
        fleets.on_observe = self.on_observe
        fleets.on_tick_end = self.on_tick_end
        fleets.on_spawn = self.on_spawn

    def record_answer(self, event: Event, asked: OpenQuestion, choice: Choice) -> None:
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
            self._fresh.append(answer)
            if isinstance(question, SettingsChanged):
                self._settings.pop(question.where, None)
                if choice.name == ChoiceName.USE:
                    self._settings[question.where] = answer

    def record_start(self, event: Event, lane: str) -> None:
        self._started[lane] = event.pos

    def _lanes(self, question: AnyQuestion) -> Iterable[str]:
        if isinstance(question, TextChanged):
            yield from self.site.workspace.config.roster()
        for each in question.subjects:
            match each:
                case subject.Lane(name):
                    yield name
                case subject.Unit(name):
                    yield from (unit.lane for unit in self.site.all_units() if unit.name == name)
                case subject.RunSubject(run_id) if run := self.site.fleet.runs.get(run_id):
                    yield run.lane
                case subject.Fleet() | subject.Host() | subject.Limit():
                    yield from self.site.workspace.config.roster()

    def on_observe(self, process: Process, tick: Tick) -> None:
        """A supervisor has seen the fleet: what the answers released holds nothing any more."""
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
        """It has done what it is going to do: each lane is started, or waits for something else that is said."""
        tick = self._ticks.pop(process.pid, None)
        if tick is None:
            return
        fleet = tick.fleet
        target = 0 if fleet.drain_requested else self.site.workspace.target
        plan = reconcile.plan(fleet.lanes, target, failing=fleet.failing_lanes)
        waiting = waits.with_obstacles(tick.seen, fleet.waits, plan.obstacles).lanes
        for answer in self._concerning(process, tick):
            self._fresh.remove(answer)
            for lane in answer.lanes - fleet.leases.keys():
                is_done = lane not in waiting or tick.seen.working_on(lane)
                if not (is_done or waiting[lane] or self._has_moved(tick, lane)):
                    raise InvariantBroken(
                        invariants.TAKES_EFFECT,
                        f"after {_describe(answer)} nobody starts on lane {lane}",
                    )

    def _concerning(self, process: Process, tick: Tick) -> list[Answer]:
        """What a person has said of a host, its own supervisor acts on."""
        known = [each for each in self._fresh if each.position <= tick.position]
        return [each for each in known if self._is_addressed(process, tick, each.question)]

    def _is_addressed(self, process: Process, tick: Tick, question: AnyQuestion) -> bool:
        if isinstance(question, BaselineFailed):
            return question.host == process.host.name
        return question.where == tick.seen.where if isinstance(question, TextChanged) else True

    def _has_moved(self, tick: Tick, lane: str) -> bool:
        """Somebody started it since, or wrote something else that made a start of this supervisor's be refused."""
        starts = self.site.fleet.starts.get(lane)
        return self._started.get(lane, 0) > tick.position or (
            starts is not None and starts.version != tick.fleet.versions.get(lane, 0)
        )

    def _missed_unit(self, process: Process, seen: Observation, lane: str) -> str:
        shown = on_target.apply_shown_units(
            self.site.fleet, self.site.branch_view(process).shown, self.site.decisions
        )
        now = self.fleets.workers.backlog(
            self.site.units_on(process.host), shown, lane, seen.now_ms
        )
        offered = {unit.name for unit in seen.backlogs[lane].open}
        missed = {unit.name for unit in now.open} - offered
        return f"a supervisor does not see {min(missed)}" if missed else ""

    def _still_held(self, tick: Tick, answer: Answer, lane: str) -> str:
        """What the answer was to release, and holds the lane as it did before; empty: nothing."""
        if any(each.question == answer.question.id for each in tick.fleet.waits.all_waits()):
            return "the question still holds something"
        seen = tick.seen
        if isinstance(answer.question, TextChanged):
            return self._text_ignored(answer.question, answer, seen)
        if isinstance(answer.question, Incident) and answer.choice.name == ChoiceName.KEEP:
            return self._still_to_do(answer.question, seen)
        if not answer.choice.releases:
            return ""
        starts, resting = (
            seen.starts(lane),
            {rest.unit_id for rest in seen.backlogs[lane].on_cooldown},
        )
        for brought in answer.choice.effects:
            match brought:
                case ClearUnit(unit=unit) if unit in resting and not _tried_since(
                    seen, unit, answer
                ):
                    return f"{unit} is still on cooldown"
                case ClearLane(lane=name) if name == lane and starts.failed:
                    return f"lane {lane} is still given up on"
                case ClearLane(lane=name) if name == lane and starts.stopped:
                    if starts.stopped.at_ms < answer.at_ms:
                        return f"lane {lane} is still held by how its last run ended"
                case LiftLimit(key=key) if limit := seen.limits.get(key.path):
                    if limit.ending and limit.hit_ms < answer.at_ms:
                        return f"{key} is still limited"
        match answer.question:
            case UnitUndone(unit=unit) as undone if unit in seen.undone:
                return (
                    f"{unit} is still gone"
                    if seen.question_about_undone(unit).id == undone.id
                    else ""
                )
            case UnitHeld(unit=unit) as held if unit in seen.verdicts and unit in seen.unfinished:
                return f"{unit} is still held" if _is_held(seen, held) else ""
            case BaselineFailed() as failed if seen.baseline.step is gate.Step.WAIT:
                return f"{failed.host} still waits" if self._is_about_now(failed, answer) else ""
            case BudgetSpent() as spent if room := seen.cannot_start.get(lane):
                return (
                    f"the budget of {spent.account} is as it was"
                    if _asks_again(room.questions, spent)
                    else ""
                )
        return ""

    def _text_ignored(self, changed: TextChanged, answer: Answer, seen: Observation) -> str:
        """The text counts that a person wants used, and none that is not wanted, unless `dos up` approved it since."""
        is_unused = changed.id in {each.id for each in seen.changed_texts}
        if answer.choice.name == ChoiceName.USE:
            return f"{changed.document} is not used" if is_unused else ""
        texts = next(each for each in self.site.texts.values() if each.where == changed.where)
        on_disk = texts.on_disk(changed.document)
        if document_digest(on_disk) != changed.digest or texts.approved_ms >= answer.asked_ms:
            return ""
        is_committed = on_disk == self.site.repository.documents[changed.document]
        return "" if is_unused or is_committed else f"{changed.document} is used"

    def on_spawn(self, process: Process, settings: str | None) -> None:
        """A worker is started with the settings that a person wants used."""
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
        """A unit whose commits a person keeps is done, as long as they are there."""
        named = self.site.repository.named
        kept = [unit for unit in incident.units if named.get(unit) in incident.commits]
        left = [unit for unit in kept if unit in seen.unfinished]
        return f"{left[0]} is still to be done" if left else ""

    def _is_about_now(self, failed: BaselineFailed, answer: Answer) -> bool:
        """No check has failed since, and the branch is where it was: an answer holds for one tree alone."""
        at = [each.at_ms for each in self.site.baselines.checks if each.host == failed.host]
        return failed.tree == self.site.repository.target and max(at, default=0) < answer.at_ms


def _tried_since(seen: Observation, unit: str, answer: Answer) -> bool:
    """Whoever was at the unit when a person answered has come to the end of the try."""
    known = seen.state.units.get(unit)
    return (
        known is not None
        and known.last_attempt is not None
        and known.last_attempt.at_ms >= answer.at_ms
    )


def _is_held(seen: Observation, held: UnitHeld) -> bool:
    """For the same reason that a person was asked about, and by nothing that came later."""
    unit = seen.unfinished[held.unit]
    return held_units.about_held(unit, seen.verdicts[held.unit], seen.state).id == held.id


def _asks_again(questions: Iterable[AnyQuestion], spent: BudgetSpent) -> bool:
    """One of them is about the same budget, and that was not raised."""
    same = ("account", "measure", "limit")
    return any(
        isinstance(each, BudgetSpent)
        and all(getattr(each, name) == getattr(spent, name) for name in same)
        for each in questions
    )


def _describe(answer: Answer) -> str:
    return f"{answer.question.id} was answered with {answer.choice.name}"
