"""The tries at a unit: those of the journal, or those that a caller wrote down."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import DecodeError, json

from dos.backlog.attempts import (
    Attempts,
    FreshnessEvidence,
    released_attempt,
    released_moment,
    released_unit,
)
from dos.backlog.cooldown import AttemptOutcome, Evidence, Verdict, judge
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.state import fleet, held_units
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, streams
from dos.journal.backend import Entry
from dos.journal.events.limits import UnitCleared
from dos.journal.store import Store
from dos.questions.state import Decisions
from dos.text import quote
from dos.units.io import sources
from dos.units.unit import Unit
from dos.world import World


def recorded_attempts(world: World) -> Attempts:
    state, _ = fold.current(world.journal, Attempts)
    return state


def attempts_from_json(text: str) -> list[Mapping[str, Any]]:
    """The rows of a list in JSON. What is no row is passed over: an attempt that cannot be read was none."""
    try:
        rows = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--attempts is not JSON: {error}", hint="Give a list, such as []."
        ) from error
    if not isinstance(rows, list):
        raise BadInput("--attempts is not a list", hint="Give a list, such as [].")
    return [row for row in rows if isinstance(row, Mapping)]


def cooldown_evidence(
    world: World, unit: str, *, now_ms: int, instead: str | None = None
) -> Evidence:
    """By the journal and the plan, or by the attempts that a caller wrote down `instead`."""
    if instead is None:
        declared = sources.find_unit(sources.read(world.workspace, world.config).units, unit)
        name = declared.name if declared else unit
        state, _ = fold.current(world.journal, FleetState)
        return unit_evidence(name, declared, state, recorded_attempts(world), now_ms=now_ms)
    rows = (released_attempt(row) for row in attempts_from_json(instead))
    return Evidence(unit_id=unit, attempts=tuple(row for row in rows if row), now_ms=now_ms)


def unit_cooldown(
    unit: Unit, state: FleetState, tried: Attempts, config: Config, *, now_ms: int
) -> Verdict:
    """Whether a declared unit is on cooldown; not while a run goes on that has tried it, and counts its own tries."""
    return judge(unit_evidence(unit.name, unit, state, tried, now_ms=now_ms), config.cooldown)


def unit_evidence(
    name: str, unit: Unit | None, state: FleetState, tried: Attempts, *, now_ms: int
) -> Evidence:
    """`unit` is what the plan says of it now, where it is declared."""
    listed = tried.newest(name)
    return Evidence(
        unit_id=name,
        attempts=listed,
        now_ms=now_ms,
        unlisted=tried.count(name) - len(listed),
        text=unit.fingerprint if unit else "",
        run_active=state.has_open_attempt(name),
    )


def freshness_evidence(world: World, unit: str, *, instead: str | None = None) -> FreshnessEvidence:
    """By the journal, or by the attempts that a caller wrote down `instead`."""
    if instead is None:
        tried = recorded_attempts(world)
        moments = [attempt.at_ms for attempt in tried.newest(unit)]
        return FreshnessEvidence(
            unit_id=unit, attempted=bool(moments), last_attempt_ms=max(moments, default=None)
        )
    rows = [row for row in attempts_from_json(instead) if released_unit(row) == unit]
    stamps = [at_ms for row in rows if (at_ms := released_moment(row)) is not None]
    return FreshnessEvidence(
        unit_id=unit, attempted=bool(rows), last_attempt_ms=max(stamps, default=None)
    )


def units_to_clear(declared: Sequence[Unit], words: Sequence[str], store: Store) -> list[Unit]:
    """The units that are named; without a name, every one that failed and has not landed."""
    if words:
        return [_named(declared, word) for word in dict.fromkeys(words)]
    state, _ = fold.current(store, FleetState)
    answers, _ = fold.current(store, Decisions)
    asked_about = {
        unit for asked in answers.open.values() for unit in held_units.units_behind(asked)
    }
    return [unit for unit in declared if unit.name in asked_about or _has_failed(state, unit)]


def clear_units(store: Store, units: Sequence[tuple[Unit, str]], *, by: str) -> None:
    """In one transaction: all of them, each with its lane, or none."""
    facts = [UnitCleared(unit=unit.name, lane=lane, by=by) for unit, lane in units]
    if facts:
        store.append_all(
            [Entry(stream=streams.unit(fact.unit), kind=fact.kind, body=fact) for fact in facts]
        )


def _named(declared: Sequence[Unit], word: str) -> Unit:
    unit = sources.find_unit(declared, word)
    if unit is None:
        raise BadInput(f"no plan has the unit {quote(word)}", hint="`dos status` lists the units.")
    return unit


def _has_failed(state: FleetState, unit: Unit) -> bool:
    seen = state.units.get(unit.name, fleet.UnitState())
    return (
        not seen.landed
        and seen.last_attempt is not None
        and seen.last_attempt.outcome != AttemptOutcome.SHIPPED
    )
