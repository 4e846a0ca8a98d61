"""Gathers where every unit is: by the plans, the landings in git, the live leases and the journal."""

from collections.abc import Collection, Sequence

from dos.config.tables import Config
from dos.evidence.access import asked_units, attempts, pickable
from dos.evidence.work import landed
from dos.evidence.work.landed import Landed
from dos.journal import fold
from dos.journal.states.decisions import Decisions
from dos.journal.states.fleet import Fleet
from dos.records.units import Unit
from dos.records.unknown import Unknown
from dos.sources.plans import units as sources
from dos.sources.world import World
from dos.verdicts.access import pickable as offering
from dos.verdicts.work.account import Evidence


def gather(world: World, config: Config, *, now_ms: int, waiting: Collection[str]) -> Evidence:
    """`waiting` are the units that nobody may take now, for whatever reason."""
    units: Sequence[Unit] = sources.read(world.workspace, config).units
    recorded, _ = fold.current(world.journal, Fleet)
    live = {lease.run_id for lease in world.journal.leases(lapsed=False)} - {""}
    names = tuple(unit.name for unit in units)
    truths, state = landed.look(world, names, recorded, declared=units)
    claims = {name: seen.claimed_by for name, seen in state.units.items() if seen.claimed_by and not seen.landed}
    tried = attempts.recorded(world)
    units = asked_units.gated(units, state, fold.current(world.journal, Decisions)[0])
    stands = {unit.name: pickable.standing(unit, state, live, now_ms=now_ms) for unit in units}
    holds = {name: offering.judge(seen) for name, seen in stands.items()}
    return Evidence(
        declared=names,
        landed=next(
            (truth for truth in truths.values() if isinstance(truth, Unknown)),
            {name for name, truth in truths.items() if isinstance(truth, Landed)},
        ),
        in_flight={name: run for name, run in claims.items() if run in live},
        interrupted={name: run for name, run in claims.items() if run not in live},
        held={name: hold.reason for name, hold in holds.items() if hold.held and hold.reason},
        resting=[
            unit.name
            for unit in units
            if pickable.rested(unit, stands[unit.name], state, tried, config).cooldown_until_ms > now_ms
        ],
        waiting=waiting,
        undeclared=tuple(name for name in state.units if name not in holds),
    )
