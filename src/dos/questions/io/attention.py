"""All questions that need a person now, also those that follow from leases and plans."""

from collections.abc import Mapping, Sequence

from dos.backlog.pickable import Answer
from dos.fleet.state import held_units
from dos.fleet.state.held_units import DeclaredUnits, about_held
from dos.journal import fold
from dos.lease import Lease
from dos.machine import process
from dos.questions import subject
from dos.questions.agent_requests import ToolRequested
from dos.questions.catalog import AnyQuestion
from dos.questions.runs import HaltProposed
from dos.questions.state import Decisions, OpenQuestion, raised_event
from dos.questions.units import UnitHeld
from dos.units.unit import Unit
from dos.world import World

FOR_A_PERSON = (Answer.DRAFT_CLASS, Answer.OPERATOR_GATED, Answer.SOAK_OPEN)


def gather(world: World, units: DeclaredUnits | None, *, now_ms: int) -> Decisions:
    """Read the journal and return the questions that are open now."""
    recorded, _ = fold.current(world.journal, Decisions)
    return questions_for_people(recorded, world.journal.leases(), units, now_ms=now_ms)


def questions_for_people(
    recorded: Decisions, leases: Sequence[Lease], units: DeclaredUnits | None, *, now_ms: int
) -> Decisions:
    """Return the recorded questions whose causes still exist, and those that plans add.

    `units` is None when the plans cannot be read; then only what the plans add is missing.
    """
    found: dict[str, OpenQuestion] = {}
    for name, asked in recorded.open.items():
        if not _has_stopped(asked, leases) and not _is_moot(asked, units):
            found[name] = asked
    if units is not None:
        for question in _unwritten_questions(found, recorded, units):
            found[question.id] = _unwritten(question, now_ms)
    return Decisions(open=found, answered=recorded.answered)


def _is_moot(asked: OpenQuestion, units: DeclaredUnits | None) -> bool:
    """Whether the plans show that nobody has to answer any more; unread plans show nothing."""
    if units is None:
        return False
    return bool(held_units.why_moot(asked, units.state, units.unfinished))


def _unwritten_questions(
    found: Mapping[str, OpenQuestion], recorded: Decisions, units: DeclaredUnits
) -> list[AnyQuestion]:
    """The questions that follow from the plans: of the next tick, and about held units.

    A unit that another question is about already is not asked about twice, and one that a person
    put aside not again.
    """
    questions: list[AnyQuestion] = []
    asked_about = {*units.put_aside}
    for asked in found.values():
        asked_about.update(held_units.units_behind(asked))
    for question in units.unasked:
        if not recorded.knows(question.id):
            questions.append(question)
            asked_about.update(subject.unit_names(question.waits))
    for name in units.verdicts:
        if name in asked_about:
            continue
        held = _about_held(units, name)
        if held is not None:
            questions.append(held)
    return questions


def _unwritten(question: AnyQuestion, now_ms: int) -> OpenQuestion:
    """The open question, not in the journal yet: an answer is written together with it."""
    return OpenQuestion(raised=raised_event(question), at_ms=now_ms, version=0, has_age=False)


def _about_held(units: DeclaredUnits, name: str) -> UnitHeld | None:
    """The question about a unit that its plan holds. None: no person is needed for it."""
    unit = units.unfinished.get(name)
    if unit is None or units.verdicts[name].reason not in FOR_A_PERSON:
        return None
    return about_held(
        unit, units.verdicts[name], units.state, behind=_dependents(name, units.unfinished)
    )


def _has_stopped(asked: OpenQuestion, leases: Sequence[Lease]) -> bool:
    """Whether the run or process of a proposed halt, or of an agent that asks, is gone."""
    halt = asked.question
    if isinstance(halt, ToolRequested):
        own = [lease for lease in leases if lease.run_id == halt.run_id]
        return all(map(process.holder_has_exited, own))  # the agent of a worker ends with it
    if not isinstance(halt, HaltProposed):
        return False
    if halt.run_id and any(lease.run_id == halt.run_id for lease in leases):
        return False
    is_here = halt.handle.isdecimal() and halt.host == process.host()
    if is_here:
        return process.identify(int(halt.handle)) is None
    return bool(halt.lane) and not any(lease.lane == halt.lane for lease in leases)


def _dependents(unit: str, unfinished: Mapping[str, Unit]) -> list[str]:
    """The units that depend on this one, directly or through others, in the order of the plans."""
    behind: set[str] = set()
    found = {unit}
    while found:
        reached = behind | {unit}
        found = set()
        for other in unfinished.values():
            if other.name not in reached and not reached.isdisjoint(other.depends):
                found.add(other.name)
        behind |= found
    return list(filter(behind.__contains__, unfinished))
