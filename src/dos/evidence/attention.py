"""Everything that needs a person now: questions, proposed halts, stopped runs, and units that their plan holds."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from dos.errors import BadInput
from dos.evidence.access import asked_units
from dos.evidence.access.pickable import standing
from dos.evidence.work import landed
from dos.journal import fold
from dos.journal.states import decisions, fleet
from dos.journal.states.decisions import Decisions, Standing
from dos.journal.states.fleet import Fleet
from dos.plans.questions.runs import HaltProposed
from dos.plans.questions.units import UnitHeld
from dos.records.leases import Lease
from dos.records.units import Unit
from dos.sources import processes
from dos.sources.plans import units as sources
from dos.sources.world import World
from dos.verdicts.access import pickable
from dos.verdicts.access.pickable import MOST_DEATHS, Answer

FOR_A_PERSON = (Answer.DRAFT_CLASS, Answer.OPERATOR_GATED, Answer.SOAK_OPEN)


class Found(Struct, frozen=True, kw_only=True):
    decisions: Decisions  # without those whose cause is gone
    unread: str = ""  # why units are not among them


def gather(world: World, *, now_ms: int) -> Found:
    """A plan that cannot be read, or a dos.toml with errors, hides the units that they hold and nothing else."""
    recorded, _ = fold.current(world.journal, Decisions)
    leases = world.journal.leases()
    waiting = {name: asked for name, asked in recorded.open.items() if not _has_stopped(asked, leases)}
    if world.loaded.problems:
        return Found(decisions=Decisions(open=waiting, answered=recorded.answered), unread="dos.toml has errors")
    try:
        units = sources.read(world.workspace, world.config).units
    except BadInput as error:
        return Found(decisions=Decisions(open=waiting, answered=recorded.answered), unread=str(error))
    journaled, _ = fold.current(world.journal, Fleet)
    _, state = landed.look(world, [name for unit in units for name in (unit.name, *unit.depends)], journaled)
    unfinished = {unit.name: unit for unit in units if not state.units.get(unit.name, fleet.Unit()).landed}
    waiting = {name: asked for name, asked in waiting.items() if not asked_units.cause_gone(asked, state, unfinished)}
    live = {lease.run_id for lease in leases} - {""}
    held = _held_units(unfinished, state, live, _asked_about(waiting.values()), now_ms)
    return Found(decisions=Decisions(open=waiting | held, answered=recorded.answered))


def _has_stopped(asked: Standing, leases: Sequence[Lease]) -> bool:
    """Of a halt that was proposed: nothing is left to stop, by the leases and, of a process here, by the system."""
    halt = asked.question
    if not isinstance(halt, HaltProposed):
        return False
    if halt.run_id and any(lease.run_id == halt.run_id for lease in leases):
        return False
    is_here = halt.handle.isdecimal() and halt.host == processes.host()
    if is_here:
        return processes.identify(int(halt.handle)) is None
    return bool(halt.lane) and not any(lease.lane == halt.lane for lease in leases)


def _asked_about(waiting: Iterable[Standing]) -> set[str]:
    return {unit for asked in waiting for unit in asked_units.units_behind(asked)}


def _held_units(
    unfinished: Mapping[str, Unit], state: Fleet, live: set[str], asked_about: set[str], now_ms: int
) -> dict[str, Standing]:
    found = {}
    for unit in unfinished.values():
        verdict = pickable.judge(standing(unit, state, live, now_ms=now_ms))
        if verdict.reason not in FOR_A_PERSON or unit.name in asked_about:
            continue
        seen = state.units.get(unit.name, fleet.Unit())
        question = UnitHeld.ask(
            unit.name,
            str(verdict.reason),
            verdict.evidence,
            behind=_dependents(unit.name, unfinished),
            lane=unit.lane,
            source=f"{unit.document}:{unit.line}",
            retries=verdict.reason is Answer.OPERATOR_GATED and seen.deaths >= MOST_DEATHS and not unit.gated,
            ordinal=seen.cleared_ms or 1,
        )
        found[question.id] = Standing(raised=decisions.raised(question), at_ms=now_ms, version=0)
    return found


def _dependents(unit: str, unfinished: Mapping[str, Unit]) -> list[str]:
    """The units that wait for this one to land, directly or behind one another, in the order of the plans."""
    behind: set[str] = set()
    while (
        more := {each.name for each in unfinished.values() if behind.union({unit}).intersection(each.depends)}
        - behind
        - {unit}
    ):
        behind |= more
    return [name for name in unfinished if name in behind]
