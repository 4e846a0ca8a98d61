"""Gather the units that a packet may hold: their plans, their landings, and who works on them.

Landings come from git and live runs from the leases; everything else that may hold a unit is
judged as for the fleet itself.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import structs

from dos.backlog import pickable
from dos.backlog.io import attempts, landed
from dos.backlog.io.gather import evidence_without_cooldown, placement_problem, with_cooldown
from dos.backlog.io.landed import Landed
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.state import fleet, held_units
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.packets.packet import UnitCandidate
from dos.questions.state import Decisions
from dos.text import comparison_key, quote
from dos.units.io import sources
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.world import World

Lane = Callable[[Unit], str]
# From the unit, its lane, and why earlier attempts did not land.
Prompt = Callable[[Unit, str, Sequence[str]], str]


def gather(
    world: World,
    config: Config,
    *,
    scope: Sequence[str],
    now: datetime,
    lane_of: Lane,
    prompt: Prompt,
    region_of: Callable[[Unit], tuple[str, ...]],
) -> list[UnitCandidate] | Unknown:
    """Every unit in scope, in the order of the plans; Unknown when git cannot be read.

    Raises BadInput for a word of the scope that names neither a lane nor a plan.
    """
    units = sources.read(world.workspace, config).units
    recorded, _ = fold.current(world.journal, FleetState)
    tried = attempts.recorded_attempts(world)
    now_ms = round(now.timestamp() * 1000)
    live_runs = {lease.run_id for lease in world.journal.leases(lapsed=False)} - {""}
    names: list[str] = []
    for unit in units:
        names += [unit.name, *unit.depends]
    landings, state = landed.inspect_target(world, names, recorded, declared=units)
    is_in_scope = _within(scope, units, config, lane_of)
    answers = fold.current(world.journal, Decisions)[0]
    candidates = []
    for unit in held_units.close_gates(units, state, answers):
        if not is_in_scope(unit):
            continue
        landing = landings[unit.name]
        if isinstance(landing, Unknown):
            return landing
        lane = lane_of(unit)
        unit_state = state.units.get(unit.name, fleet.UnitState())
        evidence = _evidence(unit, lane, state, now_ms)
        held = pickable.judge(with_cooldown(unit, evidence, state, tried, config))
        unmet = [name for name in unit.depends if not isinstance(landings[name], Landed)]
        candidate = UnitCandidate(
            unit=unit,
            lane=lane,
            reserve=region_of(unit),
            held=held.reason or "",
            held_because=held.evidence,
            waits_for=tuple(unmet),
            prompt=prompt(unit, lane, unit_state.tries),
        )
        if isinstance(landing, Landed):
            candidate = structs.replace(candidate, commit=landing.commit)
        if unit_state.claimed_by in live_runs:
            candidate = structs.replace(candidate, taken_by=unit_state.claimed_by)
        candidates.append(candidate)
    return candidates


def _evidence(unit: Unit, lane: str, state: FleetState, now_ms: int) -> pickable.Evidence:
    """What keeps a unit from being offered, without its landing and live runs: git tells those."""
    return structs.replace(
        evidence_without_cooldown(unit, state, (), now_ms=now_ms),
        shipped=False,
        dependency_unmet=False,
        unparseable=placement_problem(unit, lane),
    )


def _within(
    scope: Sequence[str], units: Sequence[Unit], config: Config, lane_of: Lane
) -> Callable[[Unit], bool]:
    """Whether a unit is in scope. Without a scope every unit is.

    Each word names a lane or a plan: first a lane by its own name, then a plan, then any spelling.
    """
    if not scope:
        return lambda _unit: True
    all_plans = {unit.plan for unit in units}
    lanes = set()
    plans = set()
    for word in scope:
        lane = config.canonical_lane(word)
        similar = {plan for plan in all_plans if comparison_key(plan) == comparison_key(word)}
        if lane == word or (lane and word not in all_plans):
            lanes.add(lane)
        elif word in all_plans:
            plans.add(word)
        elif similar:
            plans |= similar
        else:
            known = ", ".join([*config.known_lanes(), *sorted(all_plans)])
            raise BadInput(
                f"{quote(word)} is neither a lane nor a plan; there are {known}",
                hint="Give one of these names.",
            )
    return lambda unit: lane_of(unit) in lanes or unit.plan in plans
