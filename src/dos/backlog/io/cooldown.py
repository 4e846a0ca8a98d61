"""When a unit was tried, and how that ended."""

from dos.backlog.attempt_state import Attempts, released_attempt
from dos.backlog.cooldown import Evidence, Verdict, judge
from dos.backlog.io import attempts
from dos.config.schema import Config
from dos.fleet.state.fleet import Fleet
from dos.journal import fold
from dos.units.io import named_unit, units
from dos.units.unit import Unit
from dos.world import World


def gather(world: World, unit: str, *, now_ms: int, instead: str | None = None) -> Evidence:
    """By the journal and the plan, or by the attempts that a caller wrote down `instead`."""
    if instead is None:
        declared = named_unit.find(units.read(world.workspace, world.config).units, unit)
        name = declared.name if declared else unit
        state, _ = fold.current(world.journal, Fleet)
        return of(name, declared, state, attempts.recorded(world), now_ms=now_ms)
    rows = (released_attempt(row) for row in attempts.written(instead))
    return Evidence(unit_id=unit, attempts=tuple(row for row in rows if row), now_ms=now_ms)


def of_unit(unit: Unit, state: Fleet, tried: Attempts, config: Config, *, now_ms: int) -> Verdict:
    """Whether a declared unit is on cooldown; not while a run goes on that has tried it, and counts its own tries."""
    return judge(of(unit.name, unit, state, tried, now_ms=now_ms), config.cooldown)


def of(name: str, unit: Unit | None, state: Fleet, tried: Attempts, *, now_ms: int) -> Evidence:
    """`unit` is what the plan says of it now, where it is declared."""
    listed = tried.of(name)
    return Evidence(
        unit_id=name,
        attempts=listed,
        now_ms=now_ms,
        unlisted=tried.count(name) - len(listed),
        text=unit.fingerprint if unit else "",
        goes_on=state.counts_its_tries(name),
    )
