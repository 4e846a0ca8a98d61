"""What a lane still has to do: its units, less what the target branch holds, screened for what may be offered now."""

from collections.abc import Collection, Sequence
from shlex import quote

from msgspec import json

from dos.config.tables import Config
from dos.errors import BadInput, Conflict
from dos.evidence.access import asked_units, cooldown
from dos.evidence.access import pickable as standing
from dos.journal.events import LandingIntended
from dos.journal.states.attempts import Attempts
from dos.journal.states.decisions import Decisions
from dos.journal.states.fleet import Fleet
from dos.journal.states.fleet import Unit as Seen
from dos.plans.documents.portfolio import Portfolio
from dos.plans.questions.catalog import AnyQuestion
from dos.plans.questions.question import ChoiceName
from dos.plans.questions.units import LandingBlocked
from dos.records.names import listed
from dos.records.units import Trouble, Unit
from dos.runtime.effects import Backlog, Refusals, Unsettled
from dos.sources.plans import units as sources
from dos.sources.workspace import Workspace
from dos.verdicts.access import pickable
from dos.verdicts.work import complete


def survey(
    units: Sequence[Unit],
    config: Config,
    fleet: Fleet,
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
    units = asked_units.gated(units, fleet, answers)
    theirs = {name for name, unit in fleet.units.items() if unit.claimed_by in others}
    mine = [unit for unit in units if lane_of(unit, config) == lane and unit.name not in theirs]
    known = {unit.name: fleet.units[unit.name] for unit in mine if unit.name in fleet.units}
    landed = {name: None for name, unit in known.items() if unit.landed}  # in order, and quick to look up
    left = [unit for unit in mine if unit.name not in landed]
    judged = [(unit, pickable.judge(standing.standing(unit, fleet, (), now_ms=now_ms))) for unit in left]
    tried = Attempts() if tried is None else tried
    rests = {unit.name: cooldown.of_unit(unit, fleet, tried, config, now_ms=now_ms) for unit in left}
    resting = {name: rest for name, rest in rests.items() if rest.held}
    return Backlog(
        open=[unit for unit, answer in judged if not answer.held and unit.name not in resting],
        held=[answer for _, answer in judged if answer.held],
        resting=list(resting.values()),
        landed=list(landed),
        completion=_completion(mine, landed),
        interrupted=[
            name
            for name, unit in known.items()
            if unit.is_interrupted and unit.claimed_by != run_id and not unit.landed
        ],
        unsettled=_unsettled(mine, fleet, lane, answers),
        history={name: _history(unit) for name, unit in known.items()},
        refusals={
            name: Refusals(count=unit.refused, reasons=unit.refusals) for name, unit in known.items() if unit.refused
        },
        left={name: unit.left for name, unit in known.items() if unit.left},
        word=fleet.word,
        now_ms=now_ms,
    )


def check_claim(fleet: Fleet, unit: str, others: Collection[str]) -> None:
    """Raise when one of the other runs that live is at the unit."""
    by = fleet.units.get(unit, Seen()).claimed_by
    if by in others:
        raise Conflict(f"{unit} is claimed by {by}")


def _history(unit: Seen) -> list[str]:
    if not unit.saved or unit.missed:
        return unit.tries
    return [*unit.tries, f"it was cut off; its work is on {', '.join(unit.saved)}"]


def _unsettled(mine: Sequence[Unit], fleet: Fleet, lane: str, answers: Decisions) -> list[Unsettled]:
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
            Unsettled(
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


def read_units(place: Workspace, config: Config) -> list[Unit]:
    """Every unit that can be offered, by the plans that are on disk."""
    return readable(sources.read(place, config))


def readable(found: Portfolio) -> list[Unit]:
    """The units. A plan that cannot be read is no empty one: that would mean that all is done."""
    for problem in found.problems:
        if problem.kind is Trouble.UNREADABLE:
            raise BadInput(f"{problem}", hint=f"Try: cat {problem.document}")
    return list(found.units)


def never_offered(place: Workspace, config: Config) -> list[str]:
    """The units that no worker will ever take, each with where it stands and why."""
    found = sources.read(place, config)
    troubles = [str(problem) for problem in found.problems]
    for unit in found.units:
        is_told = bool(unit.lane) and lane_of(unit, config) is None  # as a problem of the plan
        why = why_unstaffed(unit, config)
        if why and not is_told:
            troubles.append(f"{unit.document}:{unit.line}: unit {unit.name} is never offered: {why}")
    return troubles


def why_unstaffed(unit: Unit, config: Config) -> str:
    """Why no worker is ever placed on the unit's lane; empty: one is."""
    lane = lane_of(unit, config)
    if lane is None and unit.lane:
        return f"its lane {unit.lane!r} is not declared"
    if lane is None:
        return "it names no lane, and [lanes] autopick is empty"
    if lane not in config.roster():
        return f"no worker is placed on its lane {lane!r}, which is neither concurrent nor exclusive"
    return ""


def how_to_staff(unit: Unit, config: Config) -> str:
    """What to do so that a worker takes a unit that none would take."""
    lane = lane_of(unit, config)
    if lane is None:
        return f"write `- lane: LANE` with one of {listed(config.roster())} below {unit.document}:{unit.line}"
    lanes = json.encode([*config.lanes.concurrent, lane]).decode()
    return f"`dos config set lanes.concurrent {quote(lanes)}` places one"


def nothing_declared(place: Workspace, config: Config) -> str:
    """That there is no unit to work on, and where one was looked for; empty: there is one."""
    found = sources.read(place, config)
    if found.units or found.problems:
        return ""
    where = {
        "documents": f"[paths] plans_glob is {config.paths.plans_glob!r}",
        "beads": f"[plans] beads is {config.plans.beads!r}",
        "command": f"[plans] command is {' '.join(config.plans.command)!r}",
    }
    return f"no plan declares a unit; {where[config.plans.source]}"


def lane_of(unit: Unit, config: Config) -> str | None:
    """The unit's own lane; a unit that names none goes to the first lane that is picked by itself."""
    if unit.lane:
        return config.canonical_lane(unit.lane)
    return config.lanes.autopick[0] if config.lanes.autopick else None
