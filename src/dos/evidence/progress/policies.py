"""What `dos.toml` says about each of these questions."""

from datetime import timedelta
from typing import TYPE_CHECKING

from dos.config.tables import Config
from dos.verdicts.progress import liveness

if TYPE_CHECKING:  # each is imported where it is asked for
    from dos.verdicts.progress import efficiency, holding, keep, productivity, streak


def of_liveness(config: Config) -> liveness.Policy:
    table = config.liveness
    return liveness.Policy(grace_ms=_ms(table.grace), spin_ms=_ms(table.spin), window_ms=_ms(table.window))


def of_productivity(config: Config) -> "productivity.Policy":
    from dos.verdicts.progress import productivity

    return productivity.Policy(min_steps=config.productivity.min_steps, floor=config.productivity.floor)


def of_efficiency(config: Config) -> "efficiency.Policy":
    from dos.verdicts.progress import efficiency

    return efficiency.Policy(min_tokens=config.efficiency.min_tokens, floor=config.efficiency.floor)


def of_improving(config: Config) -> "keep.Policy":
    from dos.verdicts.progress import keep

    table = config.improve
    return keep.Policy(
        max_consecutive_reverts=table.max_consecutive_reverts,
        efficiency_floor=table.efficiency_floor,
        min_tokens_for_efficiency=table.min_tokens_for_efficiency,
    )


def of_breaking(config: Config) -> "streak.Policy":
    from dos.verdicts.progress import streak

    table = config.breaker
    return streak.Policy(
        max_consecutive=table.max_consecutive,
        max_total=table.max_total,
        on_trip=streak.Escalation(table.on_trip.upper()),
    )


def of_holding(config: Config) -> "holding.Policy":
    from dos.verdicts.progress import holding

    return holding.Policy(max_streak=config.noop_streak.max_streak)


def _ms(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)
