"""The units that a packet may hold: what their plans say, what has landed, who is at them."""

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
Prompt = Callable[
    [Unit, str, Sequence[str]], str
]  # from the unit, its lane, and why earlier tries did not land


def gather(
    world: World,
    config: Config,
    *,
    scope: Sequence[str],
    now: datetime,
    lane_of: Lane,
    prompt: Prompt,
) -> list[UnitCandidate] | Unknown:
    """Every unit in scope, in the order of the plans."""
    units = sources.read(world.workspace, config).units
    recorded, _ = fold.current(world.journal, FleetState)
    tried, now_ms = attempts.recorded_attempts(world), round(now.timestamp() * 1000)
    live = {lease.run_id for lease in world.journal.leases(lapsed=False)} - {""}
    names = [name for unit in units for name in (unit.name, *unit.depends)]
    truths, state = landed.inspect_target(world, names, recorded, declared=units)
    inside = _within(scope, units, config, lane_of)
    found = []
    for unit in held_units.close_gates(units, state, fold.current(world.journal, Decisions)[0]):
        if not inside(unit):
            continue
        truth = truths[unit.name]
        if isinstance(truth, Unknown):
            return truth
        lane, seen = lane_of(unit), state.units.get(unit.name, fleet.UnitState())
        region = config.lane_region(lane) if lane else None
        held = pickable.judge(
            with_cooldown(unit, _standing(unit, lane, state, now_ms), state, tried, config)
        )
        found.append(
            UnitCandidate(
                unit=unit,
                lane=lane,
                reserve=region.globs if region else (),
                commit=truth.commit if isinstance(truth, Landed) else "",
                taken_by=seen.claimed_by if seen.claimed_by in live else "",
                held=held.reason or "",
                held_because=held.evidence,
                waits_for=tuple(
                    name for name in unit.depends if not isinstance(truths[name], Landed)
                ),
                prompt=prompt(unit, lane, seen.tries),
            )
        )
    return found


def _standing(unit: Unit, lane: str, state: FleetState, now_ms: int) -> pickable.Evidence:
    """What keeps a unit from being offered, but for landings, which git tells, and live runs."""
    return structs.replace(
        evidence_without_cooldown(unit, state, (), now_ms=now_ms),
        shipped=False,
        dependency_unmet=False,
        unparseable=placement_problem(unit, lane),
    )


def _within(
    scope: Sequence[str], units: Sequence[Unit], config: Config, lane_of: Lane
) -> Callable[[Unit], bool]:
    """Each word of the scope is a lane or a plan; a lane's own name comes first, then a plan's, then any spelling."""
    if not scope:
        return lambda unit: True
    plans = {unit.plan for unit in units}
    lanes, wanted = set(), set()
    for word in scope:
        lane = config.canonical_lane(word)
        same = {plan for plan in plans if comparison_key(plan) == comparison_key(word)}
        if lane == word or (lane and word not in plans):
            lanes.add(lane)
        elif word in plans or same:
            wanted |= {word} if word in plans else same
        else:
            known = ", ".join([*config.known_lanes(), *sorted(plans)])
            raise BadInput(
                f"{quote(word)} is no lane and no plan; there are {known}",
                hint="Give one of these names.",
            )
    return lambda unit: lane_of(unit) in lanes or unit.plan in wanted
