"""The policies of the limits: [quota], [budgets] and [prices], as they are written in `dos.toml`."""

from typing import Annotated, Literal

from msgspec import Meta

from dos.fields import Amount, BadValue, Positive, Ratio, Share, Table

Delay = Annotated[float, Meta(ge=0, le=86_400)]


class TokenPrice(Table, frozen=True, kw_only=True):
    """What a million tokens of a model cost, in dollars, where the program does not tell its own cost."""

    input: Ratio
    output: Ratio
    cached: Ratio = 0.0
    cache_write: Ratio | None = None  # None: as input


class Quota(Table, frozen=True, kw_only=True):
    """What is done when a provider has no room."""

    failover: bool = True  # go on with the next of [workers] fallback
    backoff_seconds: tuple[Delay, ...] = (
        60.0,
        270.0,
        1200.0,
    )  # where no time of reset is known, one after the other
    jitter_seconds: Delay = 30.0  # the rest wake within this after the one that went first
    probe_seconds: Annotated[float, Meta(ge=1, le=86_400)] = (
        900.0  # a probe that is not back by then went astray
    )

    def __post_init__(self) -> None:
        if not self.backoff_seconds:
            raise BadValue(
                ("backoff_seconds",), "backoff_seconds is empty", "For example: [60, 600]."
            )


class Budget(Table, frozen=True, kw_only=True):
    """How much; a key that is not there is not limited."""

    usd: Amount | None = None
    tokens: Positive | None = None
    wall_minutes: Amount | None = None
    iterations: Positive | None = None


class Budgets(Table, frozen=True, kw_only=True):
    """At `warn_at` of one people are warned, at the whole of it work pauses and a person is asked."""

    iteration: Budget = Budget()
    run: Budget = Budget()
    lane: Budget = Budget()  # of one lane, in one day
    day: Budget = Budget()  # of the whole fleet
    warn_at: Share = 0.8
    unknown_price: Literal["allow", "refuse"] = (
        "allow"  # where money is limited, of an agent whose cost nobody knows
    )
