"""A person's word that units may be tried now: their cooldown is over, and no question holds them back."""

from collections.abc import Sequence

from dos.backlog.attempts import AttemptOutcome
from dos.errors import BadInput
from dos.fleet.state import fleet, held_units
from dos.fleet.state.fleet import Fleet
from dos.journal import fold, streams
from dos.journal.events.limits import UnitCleared
from dos.journal.store import Entry, Store
from dos.questions.state import Decisions
from dos.text import quote
from dos.units.io import named_unit
from dos.units.unit import Unit


def chosen(declared: Sequence[Unit], words: Sequence[str], store: Store) -> list[Unit]:
    """The units that are named; without a name, every one that failed and has not landed."""
    if words:
        return [_named(declared, word) for word in dict.fromkeys(words)]
    state, _ = fold.current(store, Fleet)
    answers, _ = fold.current(store, Decisions)
    asked_about = {
        unit for asked in answers.open.values() for unit in held_units.units_behind(asked)
    }
    return [unit for unit in declared if unit.name in asked_about or _has_failed(state, unit)]


def clear(store: Store, units: Sequence[tuple[Unit, str]], *, by: str) -> None:
    """In one transaction: all of them, each with its lane, or none."""
    facts = [UnitCleared(unit=unit.name, lane=lane, by=by) for unit, lane in units]
    if facts:
        store.append_all(
            [Entry(stream=streams.unit(fact.unit), kind=fact.kind, body=fact) for fact in facts]
        )


def _named(declared: Sequence[Unit], word: str) -> Unit:
    unit = named_unit.find(declared, word)
    if unit is None:
        raise BadInput(f"no plan has the unit {quote(word)}", hint="`dos status` lists the units.")
    return unit


def _has_failed(state: Fleet, unit: Unit) -> bool:
    seen = state.units.get(unit.name, fleet.Unit())
    return (
        not seen.landed and seen.tried is not None and seen.tried.outcome != AttemptOutcome.SHIPPED
    )
