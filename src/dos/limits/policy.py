"""The settings `[quota]`, `[budgets]` and `[prices]` of dos.toml."""

from typing import Annotated, Literal

from msgspec import Meta

from dos.fields import Amount, BadValue, Positive, Ratio, Share, Table

Delay = Annotated[float, Meta(ge=0, le=86_400)]
Tokens = Annotated[int, Meta(ge=1, le=10**15)]


class TokenPrice(Table, frozen=True, kw_only=True):
    """Dollars for a million tokens of a model whose program does not report its cost."""

    input: Ratio
    """Dollars for a million input tokens."""
    output: Ratio
    """Dollars for a million output tokens."""
    cached: Ratio | None = None
    """Dollars for a million tokens read from the cache; unset: as input."""
    cache_write: Ratio | None = None
    """Dollars for a million tokens written to the cache; unset: as input."""


class Quota(Table, frozen=True, kw_only=True):
    """What to do when a provider is limited."""

    failover: bool = True
    """Continue with the next agent of [workers] fallback while one is limited."""
    backoff_seconds: tuple[Delay, ...] = (
        60.0,
        270.0,
        1200.0,
    )
    """Pauses before the probes of a limit without a known end; the last one repeats."""
    jitter_seconds: Delay = 30.0
    """After a limit ends, the waiting lanes start again spread over this time."""
    probe_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 900.0
    """After this time a probe without an answer counts as lost, and another lane may probe."""

    def __post_init__(self) -> None:
        if not self.backoff_seconds:
            raise BadValue(
                ("backoff_seconds",), "backoff_seconds is empty", "For example: [60, 600]."
            )


class Budget(Table, frozen=True, kw_only=True):
    """The limits of one account; a missing key is not limited."""

    usd: Amount | None = None
    """Most dollars that agents may cost; unset: no limit."""
    tokens: Tokens | None = None
    """Most tokens that agents may use, cached ones included; unset: no limit."""
    wall_minutes: Amount | None = None
    """Most minutes that agents may run; unset: no limit."""
    iterations: Positive | None = None
    """Most iterations; unset: no limit; has no effect in [budgets.iteration]."""


class Budgets(Table, frozen=True, kw_only=True):
    """A warning at `warn_at` of a budget; at all of it work pauses and dos asks a person."""

    iteration: Budget = Budget()
    """Budget of one iteration."""
    run: Budget = Budget()
    """Budget of one run."""
    lane: Budget = Budget()
    """Budget of one lane in one day of UTC."""
    day: Budget = Budget()
    """Budget of the whole fleet in one day of UTC."""
    warn_at: Share = 0.8
    """Share of a budget from which on people are warned."""
    unknown_price: Literal["allow", "refuse"] = "allow"
    """`refuse`: no agent starts once one of unknown cost counts towards a budget in dollars."""
