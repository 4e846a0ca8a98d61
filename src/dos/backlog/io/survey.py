"""The backlog of a lane: its units without the landed ones, and which may be offered now.

A worker surveys its lane before every iteration, so that a plan that was edited, a unit that was
cleared and a landing of another host count at once.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from dos.backlog import cooldown, pickable
from dos.backlog.attempts import Attempts
from dos.backlog.io import attempts
from dos.backlog.io.gather import evidence_without_cooldown
from dos.choices import ChoiceName
from dos.config.schema import Config
from dos.errors import BadInput, Conflict
from dos.fleet.effects import Backlog, PendingLanding, Refusals
from dos.fleet.state import held_units
from dos.fleet.state.fleet import FleetState, UnitState
from dos.fleet.worker_health import lane_of, why_unstaffed
from dos.journal.events.fleet import LandingIntended
from dos.questions.changed_tests import TestsChanged
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion
from dos.questions.units import LandingBlocked
from dos.runs import complete
from dos.units.io import sources
from dos.units.portfolio import Portfolio
from dos.units.unit import Landing, ProblemKind, Unit
from dos.workspace import Workspace


def survey(  # noqa: PLR0913
    units: Sequence[Unit],
    config: Config,
    fleet: FleetState,
    lane: str,
    others: Collection[str] = frozenset(),
    *,
    run_id: str = "",
    now_ms: int = 0,
    answers: Decisions | None = None,
    tried: Attempts | None = None,
) -> Backlog:
    """What a lane still has to do: the units to offer, those that wait and why, what is half done.

    `units` are all that the plans declare, `fleet` the state as git shows it, `run_id` the run that
    asks. `others` are the live runs on other lanes: a unit that one of them claims is not this
    lane's, whatever the plan says now.
    """
    answers = answers or Decisions()
    units = held_units.close_gates(units, fleet, answers)
    own: list[Unit] = []
    known: dict[str, UnitState] = {}
    for unit in units:
        unit_state = fleet.units.get(unit.name)
        is_claimed = unit_state is not None and unit_state.claimed_by in others
        if lane_of(unit, config) != lane or is_claimed:
            continue
        own.append(unit)
        if unit_state is not None:
            known[unit.name] = unit_state
    landed = dict.fromkeys(name for name, unit in known.items() if unit.landed)
    left = [unit for unit in own if unit.name not in landed]
    screened = _screened(left, fleet, config, tried or Attempts(), now_ms)
    return Backlog(
        open=screened.open,
        held=screened.held,
        on_cooldown=screened.on_cooldown,
        landed=list(landed),
        completion=_completion(own, landed),
        interrupted=_interrupted(known, run_id),
        pending_landings=_pending_landings(own, fleet, lane, answers),
        history={name: _history(unit) for name, unit in known.items()},
        refusals=_refusals(known),
        saved_commits=_saved_commits(known),
        wake_pos=fleet.wake_pos,
        now_ms=now_ms,
    )


class _Screened(NamedTuple):
    """The units that have not landed, by whether they may be offered."""

    open: list[Unit]
    held: list[pickable.Verdict]
    on_cooldown: list[cooldown.Verdict]


def _screened(
    units: Sequence[Unit], fleet: FleetState, config: Config, tried: Attempts, now_ms: int
) -> _Screened:
    """Judge each unit by its hold and its cooldown, which callers show apart."""
    screened = _Screened([], [], [])
    for unit in units:
        hold = pickable.judge(evidence_without_cooldown(unit, fleet, (), now_ms=now_ms))
        rest = attempts.unit_cooldown(unit, fleet, tried, config, now_ms=now_ms)
        if hold.held:
            screened.held.append(hold)
        if rest.held:
            screened.on_cooldown.append(rest)
        if not hold.held and not rest.held:
            screened.open.append(unit)
    return screened


def _interrupted(known: Mapping[str, UnitState], run_id: str) -> list[str]:
    """The units at which another run died."""
    interrupted = []
    for name, unit in known.items():
        if unit.is_interrupted and unit.claimed_by != run_id and not unit.landed:
            interrupted.append(name)
    return interrupted


def _refusals(known: Mapping[str, UnitState]) -> dict[str, Refusals]:
    """How often the landing of each unit was refused, and why."""
    refusals = {}
    for name, unit in known.items():
        if unit.refused:
            refusals[name] = Refusals(count=unit.refused, reasons=unit.refusals)
    return refusals


def _saved_commits(known: Mapping[str, UnitState]) -> dict[str, str]:
    """The changes that the last agent of a unit did not commit; the next one begins with them."""
    saved = {}
    for name, unit in known.items():
        if unit.saved_commit:
            saved[name] = unit.saved_commit
    return saved


def check_claim(fleet: FleetState, unit: str, others: Collection[str]) -> None:
    """Raise Conflict if one of the other live runs works on the unit.

    Called as the unit is claimed, because the survey that offered it may be some seconds old.
    """
    by = fleet.units.get(unit, UnitState()).claimed_by
    if by in others:
        raise Conflict(f"{unit} is claimed by {by}")


def _history(unit: UnitState) -> list[str]:
    """What was tried before, for the next agent's prompt."""
    if not unit.saved or unit.missed:
        return unit.tries
    return [*unit.tries, f"it was cut off; its work is on {', '.join(unit.saved)}"]


def _pending_landings(
    own: Sequence[Unit], fleet: FleetState, lane: str, answers: Decisions
) -> list[PendingLanding]:
    """The landings that were intended and not finished, of the lane's units and of its runs.

    A run may have worked on what no plan declares: a replan, or a unit that was removed. Commits
    that a person accepted although they change tests are to land as well.
    """
    declared = {unit.name: unit for unit in own}
    accepted = _accepted_landings(fleet, answers)
    pending = []
    for name, unit in fleet.units.items():
        intended = unit.intended
        if intended is None or not (name in declared or intended.lane == lane):
            continue
        open_questions = _questions_about(answers.open, intended)
        answered = _questions_about(answers.answered, intended)
        if any(answers.answered[question].choice == ChoiceName.DROP for question in answered):
            continue
        pending.append(
            PendingLanding(
                unit=declared.get(name),
                landing=intended.landing,
                iteration=intended.iteration,
                untested=intended.untested,
                question=open_questions[0] if open_questions else "",
                answered=len(answered),
                tests_accepted=name in accepted,
            )
        )
    waiting = {landing.landing.unit for landing in pending}
    for name, accepted_landing in accepted.items():
        if name in declared and name not in waiting:
            pending.append(
                PendingLanding(unit=declared[name], landing=accepted_landing, tests_accepted=True)
            )
    return pending


def _accepted_landings(fleet: FleetState, answers: Decisions) -> dict[str, Landing]:
    """The commits that a person accepted although they change tests, by unit.

    An answer is used up when the landing is refused again, or the unit has landed.
    """
    accepted = {}
    for answered in answers.answered.values():
        question = answered.question
        if not isinstance(question, TestsChanged) or answered.choice != ChoiceName.ACCEPT:
            continue
        unit = fleet.units.get(question.unit, UnitState())
        if not unit.landed and unit.refused == question.refused:
            accepted[question.unit] = question.landing
    return accepted


def _questions_about(
    questions: Mapping[str, OpenQuestion] | Mapping[str, AnsweredQuestion],
    intended: LandingIntended,
) -> list[str]:
    """The ids of the questions that ask about a blocked landing of the same unit."""
    ids = []
    for question_id, asked in questions.items():
        question = asked.question
        if isinstance(question, LandingBlocked) and question.unit == intended.unit:
            ids.append(question_id)
    return ids


def _completion(own: Sequence[Unit], landed: Collection[str]) -> complete.Verdict | None:
    """Whether all of them have landed; None if there are none: an empty plan is not done."""
    if not own:
        return None
    left = tuple(unit.name for unit in own if unit.name not in landed)
    if left:
        answer = complete.Answer.INCOMPLETE
    else:
        answer = complete.Answer.COMPLETE
    return complete.Verdict(
        answer=answer,
        residual=left,
        verified=tuple(landed),
        declared=tuple(unit.name for unit in own),
        is_done=not left,
    )


def read_units(workspace: Workspace, config: Config) -> list[Unit]:
    """Every unit of the plans on disk, approved or not. Raises BadInput for an unreadable plan.

    A worker reads approved texts instead: an agent may have edited the files on disk.
    """
    return units_or_raise(sources.read(workspace, config))


def units_or_raise(found: Portfolio) -> list[Unit]:
    """The units of a portfolio. Raises BadInput if a plan cannot be read.

    An unreadable plan must not count as an empty one: that would mean that all is done.
    """
    for problem in found.problems:
        if problem.kind is ProblemKind.UNREADABLE:
            raise BadInput(f"{problem}", hint=f"Try: cat {problem.document}")
    return list(found.units)


def unofferable_units(workspace: Workspace, config: Config) -> list[str]:
    """The problems of the plans, and the units that no worker will ever take, each with why."""
    found = sources.read(workspace, config)
    troubles = list(map(str, found.problems))
    for unit in found.units:
        is_problem = bool(unit.lane) and lane_of(unit, config) is None  # listed already
        why = why_unstaffed(unit, config)
        if why and not is_problem:
            troubles.append(
                f"{unit.document}:{unit.line}: unit {unit.name} is never offered: {why}"
            )
    return troubles


def no_units_message(workspace: Workspace, config: Config) -> str:
    """A message that no unit is declared, and where it was looked for; empty if there is one."""
    found = sources.read(workspace, config)
    if found.units or found.problems:
        return ""
    where = {
        "documents": f"[paths] plans_glob is {config.paths.plans_glob!r}",
        "beads": f"[plans] beads is {config.plans.beads!r}",
        "command": f"[plans] command is {' '.join(config.plans.command)!r}",
    }
    return f"no plan declares a unit; {where[config.plans.source]}"
