"""Gathers where every unit is: by the plans, the landings in git, the live leases and the journal."""

from collections.abc import Collection, Sequence

from dos.backlog import pickable as offering
from dos.backlog.account import Evidence
from dos.backlog.attempt_state import Attempts
from dos.backlog.io import pickable
from dos.config.schema import Config
from dos.fleet.state import held_units
from dos.fleet.state.fleet import Fleet
from dos.questions.state import Decisions
from dos.units.unit import Unit
from dos.unknown import Unknown


def gather(
    units: Sequence[Unit],
    state: Fleet,
    config: Config,
    *,
    unread: str,
    live: Collection[str],
    tried: Attempts,
    answers: Decisions,
    now_ms: int,
    waiting: Collection[str],
) -> Evidence:
    """`state` is the fleet's as git shows it; `unread`, why it could not be seen. `live` are the runs that hold a lane,
    `waiting` the units that nobody may take now, for whatever reason."""
    known = state.units
    names = tuple(unit.name for unit in units)
    landed = {name for name in names if name in known and known[name].landed}
    claims = {
        name: seen.claimed_by for name, seen in known.items() if seen.claimed_by and not seen.landed
    }
    units = held_units.gated(units, state, answers)
    stands = {unit.name: pickable.standing(unit, state, live, now_ms=now_ms) for unit in units}
    holds = {name: offering.judge(seen) for name, seen in stands.items()}
    return Evidence(
        declared=names,
        landed=Unknown(unread) if unread else landed,
        in_flight={name: run for name, run in claims.items() if run in live},
        interrupted={name: run for name, run in claims.items() if run not in live},
        held={name: hold.reason for name, hold in holds.items() if hold.held and hold.reason},
        resting=[
            unit.name
            for unit in units
            if pickable.rested(unit, stands[unit.name], state, tried, config).cooldown_until_ms
            > now_ms
        ],
        waiting=waiting,
        undeclared=tuple(name for name in known if name not in holds),
    )
