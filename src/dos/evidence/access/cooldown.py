"""When a unit was tried, and how that ended."""

from dos.config.tables import Config
from dos.evidence.access import attempts, named_unit
from dos.journal.states.attempts import Attempts, released_attempt
from dos.journal.states.fleet import Fleet
from dos.records.units import Unit
from dos.sources.plans import units
from dos.sources.world import World
from dos.verdicts.access.cooldown import Answer, Evidence, Verdict, judge


def gather(world: World, unit: str, *, now_ms: int, instead: str | None = None) -> Evidence:
    """By the journal and the plan, or by the attempts that a caller wrote down `instead`."""
    if instead is None:
        declared = named_unit.find(units.read(world.workspace, world.config).units, unit)
        text = declared.fingerprint if declared else ""
        return of(attempts.recorded(world), declared.name if declared else unit, now_ms=now_ms, text=text)
    rows = (released_attempt(row) for row in attempts.written(instead))
    return Evidence(unit_id=unit, attempts=tuple(row for row in rows if row), now_ms=now_ms)


def of_unit(unit: Unit, state: Fleet, tried: Attempts, config: Config, *, now_ms: int) -> Verdict:
    """Whether a declared unit is on cooldown; not while a run goes on that has tried it, and counts its own tries."""
    if state.counts_its_tries(unit.name):
        return Verdict(answer=Answer.CLEAR, unit_id=unit.name, reason="a run that tried it goes on")
    return judge(of(tried, unit.name, now_ms=now_ms, text=unit.fingerprint), config.cooldown)


def of(tried: Attempts, unit: str, *, now_ms: int, text: str = "") -> Evidence:
    """`text` is the unit's fingerprint now."""
    listed = tried.of(unit)
    return Evidence(unit_id=unit, attempts=listed, now_ms=now_ms, unlisted=tried.count(unit) - len(listed), text=text)
