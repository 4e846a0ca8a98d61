"""Units that a question to a person holds, and questions about units that lost their cause.

Both the backlog and the supervisor use these rules: a unit that is held is not offered, and a
question whose units are all free again is closed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct, structs

from dos.backlog.pickable import MOST_DEATHS, Answer, Verdict
from dos.fleet.state.entries import UnitState
from dos.fleet.state.fleet import FleetState
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import UnitsFailed
from dos.questions.question import SetAside
from dos.questions.state import AnsweredQuestion, Decisions, OpenQuestion
from dos.questions.units import UnitHeld
from dos.units.unit import Unit


class Hold(Struct, frozen=True, kw_only=True):
    """A question that keeps a unit from being offered: open, or answered with setting it aside."""

    asked: OpenQuestion | AnsweredQuestion

    @property
    def is_open(self) -> bool:
        """Whether the question still waits for an answer."""
        return isinstance(self.asked, OpenQuestion)

    @property
    def why(self) -> str:
        """The hold in words."""
        name = self.asked.raised.id
        if isinstance(self.asked, OpenQuestion):
            return f"`dos decisions show {name}` waits for an answer"
        by = self.asked.by or "an unknown user"
        return f"{by} answered `{self.asked.choice}` ({name})"


def holds(units: Iterable[Unit], state: FleetState, answers: Decisions) -> dict[str, Hold]:
    """Return the units that wait for a person's answer, or that one set aside.

    A unit that was cleared or rewritten since the question is free, whatever the answer was. Of
    several questions about a unit an open one counts before an answered one.
    """
    held: dict[str, Hold] = {}
    declared = {unit.name: unit for unit in units}
    for asked in answers.open.values():
        for unit in units_behind(asked):
            if unit in declared and not _is_free_again(asked, asked.at_ms, state, declared[unit]):
                held[unit] = Hold(asked=asked)
    for answered in answers.answered.values():
        for unit in units_behind(answered):
            if unit in declared and _is_put_aside(answered, state, declared[unit]):
                held.setdefault(unit, Hold(asked=answered))
    return held


def close_gates(units: Sequence[Unit], state: FleetState, answers: Decisions) -> list[Unit]:
    """Return the units, with a closed gate where a question holds them.

    The rules for offering units know gates already, so a question needs no rule of its own.
    """
    held = holds(units, state, answers)
    gated = []
    for unit in units:
        hold = held.get(unit.name)
        gated.append(structs.replace(unit, gated=hold.why) if hold else unit)
    return gated


def units_behind(asked: OpenQuestion | AnsweredQuestion) -> list[str]:
    """Return the units that wait for the answer."""
    return subject.unit_names(asked.question.waits)


def why_moot(asked: OpenQuestion, state: FleetState, unfinished: Mapping[str, Unit]) -> str:
    """Return why a question about failed units needs no answer any more; empty while it does.

    `unfinished` are the declared units that have not landed.
    """
    if not isinstance(asked.question, UnitsFailed):
        return ""
    names = units_behind(asked)
    units = [unfinished[name] for name in names if name in unfinished]
    is_open = any(not _is_free_again(asked, asked.at_ms, state, unit) for unit in units)
    if not names or is_open:
        return ""
    return (
        "each of its units has landed, was taken out of the plan or rewritten,"
        " or was cleared to be tried again"
    )


def _is_put_aside(answered: AnsweredQuestion, state: FleetState, unit: Unit) -> bool:
    """Whether a person's answer keeps the unit from being offered.

    Some answers hold for good, others until the next `dos up`. An answer that was taken because
    the question expired holds nothing: no person has decided.
    """
    aside = answered.taken.sets_aside if answered.taken else None
    is_this_start = answered.answered_ms >= state.started_ms
    match aside:
        case None:
            return False
        case SetAside.FOR_GOOD:
            return True
        case SetAside.UNTIL_START:
            return is_this_start
        case SetAside.UNTIL_START_OR_CHANGE:
            is_left = is_this_start and not answered.expired
            return is_left and not _is_free_again(answered, answered.answered_ms, state, unit)
        case _:
            assert_never(aside)


def _is_free_again(
    asked: OpenQuestion | AnsweredQuestion, since_ms: int, state: FleetState, unit: Unit
) -> bool:
    """Whether a person has cleared the unit since, or rewritten it."""
    if state.units.get(unit.name, UnitState()).cleared_ms >= max(since_ms, 1):
        return True
    before = asked.question.unit_fingerprint(unit.name)
    return bool(before) and before != unit.fingerprint


class DeclaredUnits(Struct, frozen=True, kw_only=True):
    """The units that the plans declare and that have not landed, and what is known of them."""

    unfinished: Mapping[str, Unit]
    verdicts: Mapping[str, Verdict]  # of those that may not be offered
    state: FleetState
    unasked: Sequence[AnyQuestion] = ()  # that a supervisor would ask at its next tick
    put_aside: Collection[str] = ()  # a person decided to leave these: nothing is open about them


def about_held(
    unit: Unit, verdict: Verdict, state: FleetState, *, behind: Sequence[str] = ()
) -> UnitHeld:
    """Return the question about a unit that its plan holds, or that runs died at.

    `behind` are the units that wait for it to land.
    """
    unit_state = state.units.get(unit.name, UnitState())
    is_gated_by_deaths = (
        verdict.reason is Answer.OPERATOR_GATED
        and unit_state.deaths >= MOST_DEATHS
        and not unit.gated
    )
    return UnitHeld.ask(
        unit.name,
        str(verdict.reason),
        verdict.evidence,
        behind=behind,
        lane=unit.lane,
        document=unit.document,
        line=unit.line,
        retries=is_gated_by_deaths,
        ordinal=unit_state.cleared_ms or 1,
    )
