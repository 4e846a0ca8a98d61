"""What every agent program must tell us: how to start it, what its lines mean, and how it ended."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

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
    {
        Ending.TRANSIENT,
        Ending.OVERLOADED,
        Ending.USAGE_WINDOW,
        Ending.SPEND_STOP,
        Ending.AUTH,
        Ending.MODEL_UNAVAILABLE,
    }
)
# Of these, the ones that no waiting clears.
PERSONAL = frozenset({Ending.SPEND_STOP, Ending.AUTH, Ending.MODEL_UNAVAILABLE})


class EndingEvidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    def is_empty(self) -> bool:
        return not self.tokens and self.cost_usd is None

    def plus(self, other: "Usage | None") -> "Usage":
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
    found: EndingEvidence = EndingEvidence()
    resets_at: datetime | None = None
    retry_after_seconds: float | None = None
    scope: Scope = Scope.ACCOUNT
    window: str = ""  # the window's name, where the provider has several
    signal: int | None = None
    model: str = ""
    session: str = ""  # the program's own name for the conversation
    usage: tuple[Usage, ...] = ()


# The names by which adapters of other packages import these two.
Outcome = AgentOutcome
Found = EndingEvidence


LAUNCH_FAILED = 120  # what the runner's leash exits with when there is no such program


class Settings(Struct, frozen=True, kw_only=True):
    """An agent as dos.toml has it: `[agents.NAME]`, and what the worker asks of this one start."""

    command: tuple[str, ...] = ()  # the program and its first words; empty: the adapter's own
    arguments: tuple[str, ...] = ()  # added to the adapter's own
    model: str = ""
    max_turns: int | None = None
    max_usd: float | None = None
    directory: str = ""  # where it is to work, for programs that have to be told; empty: not known
    session: str = (
        ""  # a UUID that no other start has, for programs that let us name the conversation
    )


class Launch(Struct, frozen=True, kw_only=True):
    argv: list[str]
    stdin: str = ""
    environment: dict[str, str] = {}  # added to the user's


class Clocks(Struct, frozen=True, kw_only=True):
    """How the time went, by our own watch."""

    ended_at: datetime
    silent: bool = False  # ended by us: no line for too long
    overtime: bool = False  # ended by us: the whole took too long
    idle: bool = False  # ended by us: lines, and no change in git for too long
    stopped: bool = False  # ended by us: the lease was lost, or a person said so
    overspent: str = ""  # ended by us: what it had used, and how much it was given

    @property
    def hung(self) -> bool:
        return self.silent or self.overtime or self.idle


class Activity(Struct, frozen=True, kw_only=True):
    """It is doing something: for whoever watches."""

    text: str


class Waiting(Struct, frozen=True, kw_only=True):
    """It waits for its provider and tries again by itself: neither working nor hung."""

    ending: Ending  # what it would end with
    seconds: float | None = None
    text: str = ""


class UsageReport(Struct, frozen=True, kw_only=True):
    """One more step, unless it says otherwise. For adapters of the first form (`by_lines`)."""

    usage: Usage
    part: str = ""  # a message that is told of in several lines: the last of them counts
    whole: bool = False  # all that was used of this model up to now


Used = UsageReport  # the name by which adapters of other packages import it
StreamEvent = Activity | Waiting | UsageReport


class StreamState(Struct, frozen=True, kw_only=True):
    """What a program has told of itself up to now. Adapters whose ends need more of it have a class of their own."""

    began: bool = False  # it got as far as to speak for itself
    session: str = ""
    model: str = ""
    claim: str = ""
    last_words: str = ""  # the newest line that is not blank
    heard: tuple[Activity | Waiting, ...] = ()  # in the newest line
    waiting: Waiting | None = None  # for its provider, now
    counted: dict[str, Usage] = {}  # what it used, by model
    parts: dict[
        str, Usage
    ] = {}  # and besides, by message: each is told of in several lines, of which the last counts

    @property
    def usage(self) -> tuple[Usage, ...]:
        """All that it used up to now, by model."""
        found: dict[str, Usage] = {}
        for used in (*self.counted.values(), *self.parts.values()):
            found[used.model] = used.plus(found.get(used.model))
        return tuple(found.values())


class Adapter(Protocol):
    """An agent program as one fold over the lines that it prints; all that is known of it is read from the state."""

    name: str
    vendor: str  # whose limits it has: two programs of one vendor and account share them
    program: str  # what is looked for on PATH; empty: there is no program of its own
    tested: tuple[str, str]  # the oldest and the newest version that the tests have run; empty: any

    def launch(self, prompt: str, settings: Settings) -> Launch: ...

    def begin(self) -> StreamState:
        """The state of a program that has printed nothing."""

    def on_line(self, state: Any, line: str) -> StreamState:
        """The state after one more line. It leaves the one that it was given as it is."""

    def outcome(self, state: Any, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """How a program ended that has printed what the state holds."""


def ending_by_exit_code(exit_code: int | None, clocks: Clocks) -> Ending:
    """All that can be said of a program that prints nothing we can read."""
    if clocks.stopped:
        return Ending.KILLED
    if clocks.overspent:
        return Ending.BUDGET_CAP
    if clocks.hung:
        return Ending.HANG
    if exit_code in (None, LAUNCH_FAILED):
        return Ending.LAUNCH_FAILED
    if exit_code == 0:
        return Ending.OK
    return Ending.KILLED if exit_code < 0 else Ending.CRASH
