"""Attempts at units: read them, gather what cooldowns are judged by, and clear units.

Apart from `gather`, because `dos cooldown` and `dos pick-priority` need nothing else of the fleet.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from dos.journal import fold, streams
from dos.journal.backend import Entry
from dos.journal.events.limits import UnitCleared
from dos.journal.store import Store
from dos.text import quote
from dos.units.io import sources
from dos.units.unit import Unit
from dos.world import World

if TYPE_CHECKING:
    from dos.fleet.state.fleet import FleetState


def recorded_attempts(world: World) -> Attempts:
    """The attempts that the journal records."""
    state, _ = fold.current(world.journal, Attempts)
    return state


def attempts_from_json(text: str) -> list[Mapping[str, Any]]:
    """The rows of a JSON list. What is no row is skipped: an unreadable attempt was none.

    Raises BadInput if the text is no JSON list.
    """
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
    """What the cooldown of a unit is judged by.

    `instead` is JSON of attempts in place of the journal and the plan.
    """
    if instead is not None:
        listed = []
        for row in attempts_from_json(instead):
            if attempt := released_attempt(row):
                listed.append(attempt)
        return Evidence(unit_id=unit, attempts=tuple(listed), now_ms=now_ms)
    from dos.fleet.state.fleet import FleetState  # at use: `dos pick-priority` needs no fleet

    declared = sources.find_unit(sources.read(world.workspace, world.config).units, unit)
    name = declared.name if declared else unit
    state, _ = fold.current(world.journal, FleetState)
    return unit_evidence(name, declared, state, recorded_attempts(world), now_ms=now_ms)


def unit_cooldown(
    unit: Unit, state: "FleetState", attempts: Attempts, config: Config, *, now_ms: int
) -> Verdict:
    """Whether a declared unit is on cooldown; never while a run that tried it is active."""
    evidence = unit_evidence(unit.name, unit, state, attempts, now_ms=now_ms)
    return judge(evidence, config.cooldown)


def unit_evidence(
    name: str, unit: Unit | None, state: "FleetState", attempts: Attempts, *, now_ms: int
) -> Evidence:
    """What the cooldown is judged by; `unit` is what the plan declares now, if it does.

    A unit that no plan declares has no text, so every attempt at it counts.
    """
    listed = attempts.newest(name)
    return Evidence(
        unit_id=name,
        attempts=listed,
        now_ms=now_ms,
        unlisted=attempts.count(name) - len(listed),
        text=unit.fingerprint if unit else "",
        run_active=state.has_open_attempt(name),
    )


def freshness_evidence(world: World, unit: str, *, instead: str | None = None) -> FreshnessEvidence:
    """Whether a unit was ever tried, and when last.

    `instead` is JSON of attempts in place of the journal.
    """
    if instead is None:
        moments = [attempt.at_ms for attempt in recorded_attempts(world).newest(unit)]
        is_attempted = bool(moments)
    else:
        moments = []
        is_attempted = False
        for row in attempts_from_json(instead):
            if released_unit(row) != unit:
                continue
            is_attempted = True
            moment = released_moment(row)
            if moment is not None:
                moments.append(moment)
    return FreshnessEvidence(
        unit_id=unit, attempted=is_attempted, last_attempt_ms=max(moments, default=None)
    )


def units_to_clear(declared: Sequence[Unit], words: Sequence[str], store: Store) -> list[Unit]:
    """The named units; without a name, every unit that failed and has not landed.

    Raises BadInput for a name that no plan has.
    """
    if words:
        return [_find_unit(declared, word) for word in dict.fromkeys(words)]
    from dos.fleet.state import held_units
    from dos.fleet.state.fleet import FleetState
    from dos.questions.state import Decisions

    state, _ = fold.current(store, FleetState)
    answers, _ = fold.current(store, Decisions)
    asked_about: set[str] = set()
    for question in answers.open.values():
        asked_about.update(held_units.units_behind(question))
    return [unit for unit in declared if unit.name in asked_about or _has_failed(state, unit)]


def clear_units(store: Store, units: Sequence[tuple[Unit, str]], *, by: str) -> None:
    """Record that units may be tried now, each with its lane: all in one transaction.

    Their cooldown is over, and no question holds them back.
    """
    entries = []
    for unit, lane in units:
        fact = UnitCleared(unit=unit.name, lane=lane, by=by)
        entries.append(Entry(stream=streams.unit(fact.unit), kind=fact.kind, body=fact))
    if entries:
        store.append_all(entries)


def _find_unit(declared: Sequence[Unit], word: str) -> Unit:
    """The unit that a word names. Raises BadInput if no plan has it."""
    unit = sources.find_unit(declared, word)
    if unit is None:
        raise BadInput(f"no plan has the unit {quote(word)}", hint="`dos status` lists the units.")
    return unit


def _has_failed(state: "FleetState", unit: Unit) -> bool:
    """Whether the last attempt at a unit did not ship."""
    known = state.units.get(unit.name)
    if known is None or known.landed or known.last_attempt is None:
        return False
    return known.last_attempt.outcome != AttemptOutcome.SHIPPED
