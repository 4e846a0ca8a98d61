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
    cached: Ratio = 0.0
    """Dollars for a million tokens read from the cache."""
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
    """Pauses between probes of a limit without a known end, one after the other."""
    jitter_seconds: Delay = 30.0
    """After a limit ends, the waiting workers start again spread over this time."""
    probe_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 900.0
    """After this time a probe without an answer counts as lost."""

    def __post_init__(self) -> None:
        if not self.backoff_seconds:
            raise BadValue(
                ("backoff_seconds",), "backoff_seconds is empty", "For example: [60, 600]."
            )


class Budget(Table, frozen=True, kw_only=True):
    """The limits of one account; a missing key is not limited."""

    usd: Amount | None = None
    """Dollars."""
    tokens: Tokens | None = None
    """Tokens."""
    wall_minutes: Amount | None = None
    """Minutes that agents run."""
    iterations: Positive | None = None
    """Iterations."""


class Budgets(Table, frozen=True, kw_only=True):
    """A warning at `warn_at` of a budget; at all of it work pauses and dos asks a person."""

    iteration: Budget = Budget()
    """Budget of one iteration."""
    run: Budget = Budget()
    """Budget of one run."""
    lane: Budget = Budget()
    """Budget of one lane in one day."""
    day: Budget = Budget()
    """Budget of the whole fleet in one day."""
    warn_at: Share = 0.8
    """Share of a budget at which a warning is written."""
    unknown_price: Literal["allow", "refuse"] = "allow"
    """Whether a model without a known price may run under a budget in dollars."""
