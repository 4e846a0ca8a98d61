"""Everything that needs a person now: questions, proposed halts, stopped runs, and units that their plan holds."""

from collections.abc import Mapping, Sequence

from dos.backlog.pickable import Answer
from dos.fleet.state import held_units
from dos.fleet.state.held_units import DeclaredUnits, about_held
from dos.journal import fold
from dos.lease import Lease
from dos.machine import process
from dos.questions.catalog import AnyQuestion
from dos.questions.runs import HaltProposed
from dos.questions.state import Decisions, OpenQuestion, raised_event
from dos.questions.units import UnitHeld
from dos.units.unit import Unit
from dos.world import World

FOR_A_PERSON = (Answer.DRAFT_CLASS, Answer.OPERATOR_GATED, Answer.SOAK_OPEN)


def gather(world: World, units: DeclaredUnits | None, *, now_ms: int) -> Decisions:
    recorded, _ = fold.current(world.journal, Decisions)
    return questions_for_people(recorded, world.journal.leases(), units, now_ms=now_ms)


def questions_for_people(
    recorded: Decisions, leases: Sequence[Lease], units: DeclaredUnits | None, *, now_ms: int
) -> Decisions:
    """Without `units`, where plans cannot be read, what they hold is missing and nothing else."""
    found = {
        name: asked for name, asked in recorded.open.items() if not _has_stopped(asked, leases)
    }
    if units is None:
        return Decisions(open=found, answered=recorded.answered)
    found = {
        name: asked
        for name, asked in found.items()
        if not held_units.why_moot(asked, units.state, units.unfinished)
    }
    found |= {
        each.id: _unwritten(each, now_ms) for each in units.unasked if not recorded.knows(each.id)
    }
    asked_about = {unit for asked in found.values() for unit in held_units.units_behind(asked)}
    held = [_about_held(units, name) for name in units.verdicts if name not in asked_about]
    found |= {each.id: _unwritten(each, now_ms) for each in held if each}
    return Decisions(open=found, answered=recorded.answered)


def _unwritten(question: AnyQuestion, now_ms: int) -> OpenQuestion:
    """An answer is written together with it."""
    return OpenQuestion(raised=raised_event(question), at_ms=now_ms, version=0)


def _about_held(units: DeclaredUnits, name: str) -> UnitHeld | None:
    unit = units.unfinished.get(name)
    if unit is None or units.verdicts[name].reason not in FOR_A_PERSON:
        return None
    return about_held(
        unit, units.verdicts[name], units.state, behind=_dependents(name, units.unfinished)
    )


def _has_stopped(asked: OpenQuestion, leases: Sequence[Lease]) -> bool:
    """Of a halt that was proposed: nothing is left to stop, by the leases and, of a process here, by the system."""
    halt = asked.question
    if not isinstance(halt, HaltProposed):
        return False
    if halt.run_id and any(lease.run_id == halt.run_id for lease in leases):
        return False
    is_here = halt.handle.isdecimal() and halt.host == process.host()
    if is_here:
        return process.identify(int(halt.handle)) is None
    return bool(halt.lane) and not any(lease.lane == halt.lane for lease in leases)


def _dependents(unit: str, unfinished: Mapping[str, Unit]) -> list[str]:
    """The units that wait for this one to land, directly or behind one another, in the order of the plans."""
    behind: set[str] = set()
    while (
        more := {
            each.name
            for each in unfinished.values()
            if behind.union({unit}).intersection(each.depends)
        }
        - behind
        - {unit}
    ):
        behind |= more
    return [name for name in unfinished if name in behind]
