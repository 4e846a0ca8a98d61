"""Whether a unit was ever tried, and when last."""

from dos.backlog.attempt_state import released_moment, released_unit
from dos.backlog.io import attempts
from dos.backlog.priority import Evidence
from dos.world import World


def gather(world: World, unit: str, *, instead: str | None = None) -> Evidence:
    """By the journal, or by the attempts that a caller wrote down `instead`."""
    if instead is None:
        tried = attempts.recorded(world)
        moments = [attempt.at_ms for attempt in tried.of(unit)]
        return Evidence(
            unit_id=unit, attempted=bool(moments), last_attempt_ms=max(moments, default=None)
        )
    rows = [row for row in attempts.written(instead) if released_unit(row) == unit]
    stamps = [at_ms for row in rows if (at_ms := released_moment(row)) is not None]
    return Evidence(unit_id=unit, attempted=bool(rows), last_attempt_ms=max(stamps, default=None))
