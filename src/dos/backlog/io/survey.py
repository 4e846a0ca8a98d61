"""What a lane still has to do: its units, less what the target branch holds, screened for what may be offered now."""

from collections.abc import Collection, Sequence

from dos.backlog import pickable
from dos.backlog.attempts import Attempts
from dos.backlog.io import attempts
from dos.backlog.io.gather import evidence_without_cooldown
from dos.choices import ChoiceName
from dos.config.schema import Config
from dos.errors import BadInput, Conflict
from dos.fleet.effects import Backlog, PendingLanding, Refusals
from dos.fleet.lane_entries import lane_of, why_unstaffed
from dos.fleet.state import held_units
from dos.fleet.state.fleet import FleetState, UnitState
from dos.journal.events.fleet import LandingIntended
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions
from dos.questions.units import LandingBlocked
from dos.runs import complete
from dos.units.io import sources
from dos.units.portfolio import Portfolio
from dos.units.unit import ProblemKind, Unit
from dos.workspace import Workspace


def survey(
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
    """`others` are the runs that live on other lanes: what one is at is not ours, whatever the plan says now."""
    answers = answers or Decisions()
    units = held_units.close_gates(units, fleet, answers)
    theirs = {name for name, unit in fleet.units.items() if unit.claimed_by in others}
    mine = [unit for unit in units if lane_of(unit, config) == lane and unit.name not in theirs]
    known = {unit.name: fleet.units[unit.name] for unit in mine if unit.name in fleet.units}
    landed = {
        name: None for name, unit in known.items() if unit.landed
    }  # in order, and quick to look up
    left = [unit for unit in mine if unit.name not in landed]
    judged = [
        (unit, pickable.judge(evidence_without_cooldown(unit, fleet, (), now_ms=now_ms)))
        for unit in left
    ]
    tried = Attempts() if tried is None else tried
    rests = {
        unit.name: attempts.unit_cooldown(unit, fleet, tried, config, now_ms=now_ms)
        for unit in left
    }
    resting = {name: rest for name, rest in rests.items() if rest.held}
    return Backlog(
        open=[unit for unit, answer in judged if not answer.held and unit.name not in resting],
        held=[answer for _, answer in judged if answer.held],
        on_cooldown=list(resting.values()),
        landed=list(landed),
        completion=_completion(mine, landed),
        interrupted=[
            name
            for name, unit in known.items()
            if unit.is_interrupted and unit.claimed_by != run_id and not unit.landed
        ],
        pending_landings=_unsettled(mine, fleet, lane, answers),
        history={name: _history(unit) for name, unit in known.items()},
        refusals={
            name: Refusals(count=unit.refused, reasons=unit.refusals)
            for name, unit in known.items()
            if unit.refused
        },
        saved_commits={
            name: unit.saved_commit for name, unit in known.items() if unit.saved_commit
        },
        wake_pos=fleet.wake_pos,
        now_ms=now_ms,
    )


def check_claim(fleet: FleetState, unit: str, others: Collection[str]) -> None:
    """Raise when one of the other runs that live is at the unit."""
    by = fleet.units.get(unit, UnitState()).claimed_by
    if by in others:
        raise Conflict(f"{unit} is claimed by {by}")


def _history(unit: UnitState) -> list[str]:
    if not unit.saved or unit.missed:
        return unit.tries
    return [*unit.tries, f"it was cut off; its work is on {', '.join(unit.saved)}"]


def _unsettled(
    mine: Sequence[Unit], fleet: FleetState, lane: str, answers: Decisions
) -> list[PendingLanding]:
    """Of the lane's units, and of what its runs were at that no plan declares: a replan, a unit that was taken out."""
    declared = {unit.name: unit for unit in mine}
    found = []
    for name, seen in fleet.units.items():
        to = seen.intended
        if to is None or not (name in declared or to.lane == lane):
            continue
        asked = [name for name, each in answers.open.items() if _is_blocked(each.question, to)]
        told = [each.choice for each in answers.answered.values() if _is_blocked(each.question, to)]
        if ChoiceName.DROP in told:
            continue
        found.append(
            PendingLanding(
                unit=declared.get(name),
                landing=to.landing,
                iteration=to.iteration,
                untested=to.untested,
                question=asked[0] if asked else "",
                answered=len(told),
            )
        )
    return found


def _is_blocked(question: AnyQuestion, to: LandingIntended) -> bool:
    return isinstance(question, LandingBlocked) and question.unit == to.unit


def _completion(mine: Sequence[Unit], landed: Collection[str]) -> complete.Verdict | None:
    """None where nothing is declared: an empty plan is not a job that is done."""
    if not mine:
        return None
    left = tuple(unit.name for unit in mine if unit.name not in landed)
    answer = complete.Answer.INCOMPLETE if left else complete.Answer.COMPLETE
    return complete.Verdict(
        answer=answer,
        residual=left,
        verified=tuple(landed),
        declared=tuple(unit.name for unit in mine),
        is_done=not left,
    )


def read_units(workspace: Workspace, config: Config) -> list[Unit]:
    """Every unit that can be offered, by the plans that are on disk."""
    return units_or_raise(sources.read(workspace, config))


def units_or_raise(found: Portfolio) -> list[Unit]:
    """The units. A plan that cannot be read is no empty one: that would mean that all is done."""
    for problem in found.problems:
        if problem.kind is ProblemKind.UNREADABLE:
            raise BadInput(f"{problem}", hint=f"Try: cat {problem.document}")
    return list(found.units)


def unofferable_units(workspace: Workspace, config: Config) -> list[str]:
    """The units that no worker will ever take, each with where it stands and why."""
    found = sources.read(workspace, config)
    troubles = [str(problem) for problem in found.problems]
    for unit in found.units:
        is_told = bool(unit.lane) and lane_of(unit, config) is None  # as a problem of the plan
        why = why_unstaffed(unit, config)
        if why and not is_told:
            troubles.append(
                f"{unit.document}:{unit.line}: unit {unit.name} is never offered: {why}"
            )
    return troubles


def no_units_message(workspace: Workspace, config: Config) -> str:
    """That there is no unit to work on, and where one was looked for; empty: there is one."""
    found = sources.read(workspace, config)
    if found.units or found.problems:
        return ""
    where = {
        "documents": f"[paths] plans_glob is {config.paths.plans_glob!r}",
        "beads": f"[plans] beads is {config.plans.beads!r}",
        "command": f"[plans] command is {' '.join(config.plans.command)!r}",
    }
    return f"no plan declares a unit; {where[config.plans.source]}"
