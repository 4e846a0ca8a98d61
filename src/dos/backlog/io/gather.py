"""Gather what is known of units: from their plans, the journal and the live leases.

Nothing is decided here: `backlog.pickable` and `backlog.account` judge what is gathered.
"""

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
from dos.times import format_local_time, utc_datetime
from dos.units.io import sources
from dos.units.portfolio import Portfolio, soak_end
from dos.units.unit import ProblemKind, Unit
from dos.unknown import Unknown
from dos.world import World

# A document with one of these may declare more than can be read.
UNREAD = (ProblemKind.UNREADABLE, ProblemKind.NOT_CLOSED)
# A unit with one of these does not say clearly what it asks for.
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
    """What decides whether the unit that `word` names may be taken now.

    `state` is the fleet's as git shows it; `live` are the runs that hold a lane. Raises BadInput
    if no plan has the unit.
    """
    portfolio = sources.read(world.workspace, world.config)
    unit = sources.find_unit(declared, word)
    if unit is None:
        raise _no_such_unit(word, portfolio)
    (unit,) = held_units.close_gates([unit], state, answers)
    tried = attempts.recorded_attempts(world)
    evidence = evidence_without_cooldown(unit, state, live, now_ms=now_ms)
    evidence = with_cooldown(unit, evidence, state, tried, world.config)
    if evidence.unparseable:
        return evidence
    return structs.replace(evidence, unparseable=_unclear(unit, portfolio))


def evidence_without_cooldown(
    unit: Unit, state: FleetState, live: Collection[str], *, now_ms: int
) -> Evidence:
    """What the plan and the journal say of a unit; `live` are the runs that hold a lane.

    The cooldown is left out for callers that show it beside the other holds.
    """
    known = state.units.get(unit.name, fleet.UnitState())
    unmet = []
    for name in unit.depends:
        if not state.units.get(name, fleet.UnitState()).landed:
            unmet.append(name)
    return Evidence(
        unit=unit.name,
        shipped=known.landed[:12],
        unparseable=unit.unparseable,
        in_flight=f"run {known.claimed_by}" if known.claimed_by in live else False,
        plan_class=unit.plan_class,
        operator_gated=_gate(unit, known),
        soak_open=_soak(unit, known, now_ms),
        dependency_unmet=", ".join(unmet),
        now_ms=now_ms,
    )


def with_cooldown(
    unit: Unit, evidence: Evidence, state: FleetState, tried: Attempts, config: Config
) -> Evidence:
    """The evidence with the end of the unit's cooldown after a failed attempt."""
    cooldown = attempts.unit_cooldown(unit, state, tried, config, now_ms=evidence.now_ms)
    return structs.replace(evidence, cooldown_until_ms=cooldown.until_ms)


def placement_problem(unit: Unit, lane: str) -> Flag:
    """Why a unit cannot be placed on a lane, or read at all; empty if it can."""
    if not lane:
        return f"its lane is not declared: {quote(unit.lane)}"
    return unit.unparseable


def _no_such_unit(word: str, portfolio: Portfolio) -> BadInput:
    """The error for a name that no plan has; an unreadable plan may have it."""
    unread = ""
    for problem in portfolio.problems:
        if problem.kind in UNREAD:
            unread = f"; {problem}"
            break
    return BadInput(
        f"no plan has the unit {quote(word)}{unread}",
        hint="`dos status` lists the units; --state describes one that no plan has.",
    )


def _unclear(unit: Unit, portfolio: Portfolio) -> Flag:
    """What is wrong with a unit on disk; empty if another text of it counts than that on disk."""
    on_disk = {other.name: other.fingerprint for other in portfolio.units}
    if on_disk.get(unit.name) != unit.fingerprint:
        return ""
    for problem in portfolio.problems:
        is_here = problem.document == unit.document and problem.line == unit.line
        if is_here and problem.kind in UNCLEAR:
            return problem.what
    return ""


def _gate(unit: Unit, known: fleet.UnitState) -> Flag:
    """What a person has to decide first; empty for nothing."""
    if known.deaths >= MOST_DEATHS:
        return f"{known.deaths} runs in a row died at it"
    return known.undone or unit.gated


def _soak(unit: Unit, known: fleet.UnitState, now_ms: int) -> Flag:
    """When a unit's soak ends, while it has not; an end that cannot be read has not come."""
    if known.soaking:
        return "the index of soaks has it in progress, or cannot be read"
    if not unit.soak_until:
        return False
    end = soak_end(unit.soak_until)
    if end is None:
        return f"its end {quote(unit.soak_until)} is not a date"
    if now_ms < end.timestamp() * 1000:
        return f"it ends at {format_local_time(end, utc_datetime(now_ms))}"
    return False


def account_evidence(  # noqa: PLR0913
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
    """What accounts for every declared unit.

    `state` is the fleet's as git shows it; `unread` says why that could not be read. `live` are
    the runs that hold a lane, `waiting` the units that no run may take now.
    """
    known = state.units
    names = tuple(unit.name for unit in units)
    declared = set(names)
    landed = set()
    undeclared = []
    in_flight = {}
    interrupted = {}
    for name, unit_state in known.items():
        run = unit_state.claimed_by
        if name not in declared:
            undeclared.append(name)
        if unit_state.landed:
            landed.add(name)
        if not run or unit_state.landed:
            continue
        if run in live:
            in_flight[name] = run
        else:
            interrupted[name] = run
    held: dict[str, str] = {}
    cooling = []
    units = held_units.close_gates(units, state, answers)
    for unit in units:
        evidence = evidence_without_cooldown(unit, state, live, now_ms=now_ms)
        if reason := pickable.judge(evidence).reason:
            held[unit.name] = reason
        evidence = with_cooldown(unit, evidence, state, tried, config)
        if evidence.cooldown_until_ms > now_ms:
            cooling.append(unit.name)
    return account.Evidence(
        declared=names,
        landed=Unknown(unread) if unread else landed,
        in_flight=in_flight,
        interrupted=interrupted,
        held=held,
        resting=cooling,
        waiting=waiting,
        undeclared=tuple(undeclared),
    )
