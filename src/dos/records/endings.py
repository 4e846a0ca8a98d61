"""How an agent's process ended, in one vocabulary for every agent program; and what it used."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Ending(StrEnum):
    OK = "ok"  # it ended as it should; whether it did anything, git says
    TRANSIENT = "transient"  # the provider failed for a moment
    OVERLOADED = "overloaded"
    USAGE_WINDOW = "usage_window"  # the account's or the model's window is used up until it resets
    SPEND_STOP = "spend_stop"  # no credit: a person has to do something
    AUTH = "auth"
    MODEL_UNAVAILABLE = "model_unavailable"
    CONTEXT = "context"  # the work did not fit into its window
    TURN_CAP = "turn_cap"
    BUDGET_CAP = "budget_cap"
    PERMISSION = "permission"  # it asked for leave that nobody was there to give
    LAUNCH_FAILED = "launch_failed"
    HANG = "hang"
    KILLED = "killed"  # by a signal from outside, ours among them
    CRASH = "crash"
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """What a usage window covers: others of the same account may go on with another model, or may not."""

    ACCOUNT = "account"
    MODEL = "model"


# The ends that say something about the provider and nothing about the work.
LIMITS = frozenset(
    {Ending.TRANSIENT, Ending.OVERLOADED, Ending.USAGE_WINDOW, Ending.SPEND_STOP, Ending.AUTH, Ending.MODEL_UNAVAILABLE}
)
# Of these, the ones that no waiting clears.
PERSONAL = frozenset({Ending.SPEND_STOP, Ending.AUTH, Ending.MODEL_UNAVAILABLE})


class Found(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an ending was told by: the field or the words, as they stood there."""

    field: str = ""
    raw: str = ""


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one model was used for, all tokens counted once: `input_tokens` holds neither kind of cached ones."""

    model: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0  # reasoning included
    cost_usd: float | None = None  # as the program told it; None: it did not

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cached_tokens + self.cache_write_tokens + self.output_tokens

    @property
    def is_nothing(self) -> bool:
        return not self.tokens and self.cost_usd is None

    def added_to(self, other: "Usage | None") -> "Usage":
        """Of the same model; a cost is known as far as either tells one."""
        if other is None:
            return self
        costs = [each for each in (other.cost_usd, self.cost_usd) if each is not None]
        return Usage(
            model=self.model,
            input_tokens=other.input_tokens + self.input_tokens,
            cached_tokens=other.cached_tokens + self.cached_tokens,
            cache_write_tokens=other.cache_write_tokens + self.cache_write_tokens,
            output_tokens=other.output_tokens + self.output_tokens,
            cost_usd=sum(costs) if costs else None,
        )


class AgentOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one start of an agent ended, as its adapter read it from what the program printed."""

    ending: Ending
    claim: str = ""  # what it said, kept and never believed
    found: Found = Found()
    resets_at: datetime | None = None
    retry_after_seconds: float | None = None
    scope: Scope = Scope.ACCOUNT
    window: str = ""  # the window's name, where the provider has several
    signal: int | None = None
    model: str = ""
    session: str = ""  # the program's own name for the conversation
    usage: tuple[Usage, ...] = ()


Outcome = AgentOutcome  # the name by which adapters of other packages import it
