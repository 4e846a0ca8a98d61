"""What is known of a unit before it is offered: what its plan says, the journal, the live leases."""

from collections.abc import Collection, Sequence

from msgspec import structs

from dos.backlog import account, pickable
from dos.backlog.attempts import Attempts
from dos.backlog.io import attempts
from dos.backlog.pickable import MOST_DEATHS, Evidence, Flag
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.state import fleet, held_units
from dos.fleet.state.fleet import FleetState
from dos.questions.state import Decisions
from dos.text import quote
from dos.units.io import sources
from dos.units.portfolio import Portfolio, soak_end
from dos.units.unit import ProblemKind, Unit
from dos.unknown import Unknown
from dos.world import World

UNREAD = (
    ProblemKind.UNREADABLE,
    ProblemKind.NOT_CLOSED,
)  # a document may declare more than can be seen
UNCLEAR = (
    ProblemKind.LANE_UNKNOWN,
    ProblemKind.AGENT_UNKNOWN,
    ProblemKind.CLASS_UNKNOWN,
    ProblemKind.RANGE,
)


def pickable_evidence(
    world: World,
    word: str,
    declared: Sequence[Unit],
    state: FleetState,
    *,
    live: Collection[str],
    answers: Decisions,
    now_ms: int,
) -> Evidence:
    """Of the declared unit that is named so; `state` is the fleet's as git shows it."""
    portfolio = sources.read(world.workspace, world.config)
    unit = sources.find_unit(declared, word)
    if unit is None:
        raise _nowhere(word, portfolio)
    (unit,) = held_units.close_gates([unit], state, answers)
    seen = with_cooldown(
        unit,
        evidence_without_cooldown(unit, state, live, now_ms=now_ms),
        state,
        attempts.recorded_attempts(world),
        world.config,
    )
    return structs.replace(seen, unparseable=seen.unparseable or _unclear(unit, portfolio))


def evidence_without_cooldown(
    unit: Unit, state: FleetState, live: Collection[str], *, now_ms: int
) -> Evidence:
    """How a unit stands by the word of its plan and of the journal; `live` are the runs that hold a lane."""
    seen = state.units.get(unit.name, fleet.UnitState())
    return Evidence(
        unit=unit.name,
        shipped=seen.landed[:12],
        unparseable=unit.unparseable,
        in_flight=f"run {seen.claimed_by}" if seen.claimed_by in live else False,
        plan_class=unit.plan_class,
        operator_gated=_gate(unit, seen),
        soak_open=_soak(unit, now_ms),
        dependency_unmet=", ".join(
            name for name in unit.depends if not state.units.get(name, fleet.UnitState()).landed
        ),
        now_ms=now_ms,
    )


def with_cooldown(
    unit: Unit, seen: Evidence, state: FleetState, tried: Attempts, config: Config
) -> Evidence:
    """`seen`, with the end of the unit's cooldown after a try in vain."""
    rest = attempts.unit_cooldown(unit, state, tried, config, now_ms=seen.now_ms)
    return structs.replace(seen, cooldown_until_ms=rest.until_ms)


def placement_problem(unit: Unit, lane: str) -> Flag:
    return unit.unparseable if lane else f"it names no lane that is declared: {quote(unit.lane)}"


def _nowhere(word: str, portfolio: Portfolio) -> BadInput:
    unread = next((f"; {problem}" for problem in portfolio.problems if problem.kind in UNREAD), "")
    return BadInput(
        f"no plan has the unit {quote(word)}{unread}",
        hint="`dos status` lists the units; say with --state what is known of one of your own.",
    )


def _unclear(unit: Unit, portfolio: Portfolio) -> Flag:
    """What is wrong where it stands on disk; nothing, where another text of it counts than is on disk."""
    on_disk = {each.name: each.fingerprint for each in portfolio.units}
    if on_disk.get(unit.name) != unit.fingerprint:
        return ""
    place = (unit.document, unit.line)
    problems = (problem for problem in portfolio.problems if problem.kind in UNCLEAR)
    return next(
        (problem.what for problem in problems if (problem.document, problem.line) == place), ""
    )


def _gate(unit: Unit, seen: fleet.UnitState) -> Flag:
    if seen.deaths >= MOST_DEATHS:
        return f"{seen.deaths} runs in a row died at it"
    return seen.undone or unit.gated


def _soak(unit: Unit, now_ms: int) -> Flag:
    """An end that nobody can read has not come."""
    if not unit.soak_until:
        return False
    end = soak_end(unit.soak_until)
    if end is None:
        return f"until {unit.soak_until}, which is no date"
    return f"until {unit.soak_until}" if now_ms < end.timestamp() * 1000 else False


def account_evidence(
    units: Sequence[Unit],
    state: FleetState,
    config: Config,
    *,
    unread: str,
    live: Collection[str],
    tried: Attempts,
    answers: Decisions,
    now_ms: int,
    waiting: Collection[str],
) -> account.Evidence:
    """`state` is the fleet's as git shows it; `unread`, why it could not be seen. `live` are the runs that hold a lane,
    `waiting` the units that nobody may take now, for whatever reason."""
    known = state.units
    names = tuple(unit.name for unit in units)
    landed = {name for name in names if name in known and known[name].landed}
    claims = {
        name: seen.claimed_by for name, seen in known.items() if seen.claimed_by and not seen.landed
    }
    units = held_units.close_gates(units, state, answers)
    stands = {
        unit.name: evidence_without_cooldown(unit, state, live, now_ms=now_ms) for unit in units
    }
    holds = {name: pickable.judge(seen) for name, seen in stands.items()}
    return account.Evidence(
        declared=names,
        landed=Unknown(unread) if unread else landed,
        in_flight={name: run for name, run in claims.items() if run in live},
        interrupted={name: run for name, run in claims.items() if run not in live},
        held={name: hold.reason for name, hold in holds.items() if hold.held and hold.reason},
        resting=[
            unit.name
            for unit in units
            if with_cooldown(unit, stands[unit.name], state, tried, config).cooldown_until_ms
            > now_ms
        ],
        waiting=waiting,
        undeclared=tuple(name for name in known if name not in holds),
    )
