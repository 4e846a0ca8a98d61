"""The tables that say which agent programs there are, what they may cost, and what is done when one has no room."""

from typing import Annotated, Literal

from msgspec import Meta, field

from dos.fields import BadValue, Positive, Share, Table, check_name, check_text

Amount = Annotated[float, Meta(gt=0, le=1_000_000_000)]
Price = Annotated[float, Meta(ge=0, le=1_000_000)]
Delay = Annotated[float, Meta(ge=0, le=86_400)]


class Agent(Table, frozen=True, kw_only=True):
    """An agent program under a name of its own: two accounts of one vendor are two agents."""

    adapter: str = ""  # empty: the table's own name
    command: tuple[str, ...] = ()  # the program and its first words; empty: as the adapter knows it
    arguments: tuple[str, ...] = ()  # added to what the adapter passes
    model: str = ""
    account: str = ""  # whose limits it shares; empty: one account for each vendor
    environment: dict[str, str] = field(default_factory=dict)
    max_turns: Positive | None = None
    max_usd: Amount | None = None  # for one start, where the program can keep to it

    def __post_init__(self) -> None:
        for name in ("adapter", "model", "account"):
            check_text(getattr(self, name), (name,))
        for name in ("command", "arguments"):
            for place, word in enumerate(getattr(self, name)):
                check_text(word, (name, place))
        if self.command and not self.command[0].strip():
            raise BadValue(("command", 0), "the command has no program to start", "Put the program's name first.")
        for variable, value in self.environment.items():
            check_name(variable, ("environment", variable), "variable")
            check_text(value, ("environment", variable))


class TokenPrice(Table, frozen=True, kw_only=True):
    """What a million tokens of a model cost, in dollars, where the program does not tell its own cost."""

    input: Price
    output: Price
    cached: Price = 0.0
    cache_write: Price | None = None  # None: as input


class Quota(Table, frozen=True, kw_only=True):
    """What is done when a provider has no room."""

    failover: bool = True  # go on with the next of [workers] fallback
    backoff_seconds: tuple[Delay, ...] = (60.0, 270.0, 1200.0)  # where no time of reset is known, one after the other
    jitter_seconds: Delay = 30.0  # the rest wake within this after the one that went first
    probe_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 900.0  # a probe that is not back by then went astray

    def __post_init__(self) -> None:
        if not self.backoff_seconds:
            raise BadValue(("backoff_seconds",), "backoff_seconds is empty", "For example: [60, 600].")


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
    unknown_price: Literal["allow", "refuse"] = "allow"  # where money is limited, of an agent whose cost nobody knows
