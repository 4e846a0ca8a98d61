"""What dos needs to know of an agent program: how to start it, read its lines, and tell its end.

The vocabulary (`Ending`, `AgentOutcome`, `Usage`) is the same for every program.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct


class Ending(StrEnum):
    """How one start of an agent ended, in one vocabulary for every program."""

    OK = "ok"  # it ended normally; whether it did the work, git tells
    TRANSIENT = "transient"  # the provider failed for a moment
    OVERLOADED = "overloaded"
    USAGE_WINDOW = "usage_window"  # the usage of the account or model is exhausted until a reset
    SPEND_STOP = "spend_stop"  # no credit: a person has to act
    AUTH = "auth"
    MODEL_UNAVAILABLE = "model_unavailable"
    CONTEXT = "context"  # the work did not fit into the context window
    TURN_CAP = "turn_cap"
    BUDGET_CAP = "budget_cap"
    PERMISSION = "permission"  # it asked for permission while no person was there
    LAUNCH_FAILED = "launch_failed"
    HANG = "hang"
    KILLED = "killed"  # by a signal, also by one that dos sent
    CRASH = "crash"
    UNKNOWN = "unknown"


_ENDED: dict[str, str] = {
    Ending.OK: "finished",
    Ending.TRANSIENT: "stopped at a temporary error of its provider",
    Ending.OVERLOADED: "stopped because its provider is overloaded",
    Ending.USAGE_WINDOW: "reached its usage limit",
    Ending.SPEND_STOP: "ran out of credit",
    Ending.AUTH: "failed to log in",
    Ending.MODEL_UNAVAILABLE: "could not use its model",
    Ending.CONTEXT: "ran out of context",
    Ending.TURN_CAP: "reached its turn limit",
    Ending.BUDGET_CAP: "reached its budget",
    Ending.PERMISSION: "stopped to ask for permission",
    Ending.LAUNCH_FAILED: "failed to start",
    Ending.HANG: "hung and was stopped",
    Ending.KILLED: "was killed",
    Ending.CRASH: "crashed",
    Ending.UNKNOWN: "ended for an unknown reason",
    "crashed": "crashed",  # in older journals
}


def describe_ending(outcome: str) -> str:
    """Return how an agent ended, in words that follow its name: `finished`, `was killed`.

    The outcome of a newer version, which this one does not know, is shown as it is.
    """
    return _ENDED.get(outcome, f"ended with {outcome}")


class Scope(StrEnum):
    """What a usage window covers: the whole account, or one model of it."""

    ACCOUNT = "account"
    MODEL = "model"


# Endings that tell about the provider and nothing about the work.
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
# Of these, the ones that a person has to clear: waiting does not help.
PERSONAL = frozenset({Ending.SPEND_STOP, Ending.AUTH, Ending.MODEL_UNAVAILABLE})


class EndingEvidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an ending was read from: the field or text, as the program printed it."""

    field: str = ""
    raw: str = ""


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one model used. Each token counts once: `input_tokens` holds no cached ones."""

    model: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0  # with reasoning
    cost_usd: float | None = None  # as the program reported it; None: it reported none

    @property
    def tokens(self) -> int:
        """All tokens, of every kind."""
        return self.input_tokens + self.cached_tokens + self.cache_write_tokens + self.output_tokens

    @property
    def is_empty(self) -> bool:
        """Whether it reports neither tokens nor a cost."""
        return not self.tokens and self.cost_usd is None

    def plus(self, other: "Usage | None") -> "Usage":
        """The sum with earlier usage of the same model. A cost that only one has is kept."""
        if other is None:
            return self
        cost_usd = self.cost_usd
        if cost_usd is None:
            cost_usd = other.cost_usd
        elif other.cost_usd is not None:
            cost_usd = other.cost_usd + cost_usd
        return Usage(
            model=self.model,
            input_tokens=other.input_tokens + self.input_tokens,
            cached_tokens=other.cached_tokens + self.cached_tokens,
            cache_write_tokens=other.cache_write_tokens + self.cache_write_tokens,
            output_tokens=other.output_tokens + self.output_tokens,
            cost_usd=cost_usd,
        )


class AgentOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one start of an agent ended, as its adapter read it from the program's output."""

    ending: Ending
    claim: str = ""  # what the agent said it did; recorded, never believed
    found: EndingEvidence = EndingEvidence()
    resets_at: datetime | None = None
    retry_after_seconds: float | None = None
    scope: Scope = Scope.ACCOUNT
    window: str = ""  # the window's name, where the provider has several
    signal: int | None = None
    model: str = ""
    session: str = ""  # the program's name for the conversation
    usage: tuple[Usage, ...] = ()


# The names by which adapters of other packages import these two.
Outcome = AgentOutcome
Found = EndingEvidence


LAUNCH_FAILED = 120  # the exit code of dos's launcher when the program does not exist


class Settings(Struct, frozen=True, kw_only=True):
    """The settings of one start: `[agents.NAME]` of dos.toml, and what the worker adds."""

    command: tuple[str, ...] = ()  # the program and its first arguments; empty: the adapter's own
    arguments: tuple[str, ...] = ()  # added to the adapter's own
    model: str = ""
    max_turns: int | None = None
    max_usd: float | None = None
    directory: str = ""  # where to work, for programs that need it as an argument
    # A UUID of this start, for programs that let the caller name the conversation.
    session: str = ""
    # The program's own name of an earlier conversation that is to be continued; empty: a new one.
    resume: str = ""


class Launch(Struct, frozen=True, kw_only=True):
    """A command to start, with its standard input."""

    argv: list[str]
    stdin: str = ""
    environment: dict[str, str] = {}  # added to the user's environment


class Clocks(Struct, frozen=True, kw_only=True):
    """When a program ended, and which limit of dos ended it."""

    ended_at: datetime
    silent: bool = False  # dos ended it: it printed no line for too long
    overtime: bool = False  # dos ended it: it ran for too long
    idle: bool = False  # dos ended it: it printed lines, but git did not change for too long
    stopped: bool = False  # dos ended it: the lease was lost, or a person halted the run
    overspent: str = ""  # dos ended it: what it used of how much

    @property
    def hung(self) -> bool:
        """Whether one of the time limits ended it."""
        return self.silent or self.overtime or self.idle


class Activity(Struct, frozen=True, kw_only=True):
    """Something that the agent does, for people who watch."""

    text: str


class ToolResult(Struct, frozen=True, kw_only=True):
    """What a tool of the agent returned, for people who watch.

    `output` is the end of what it printed. The exit code is None where the program reports none.
    """

    output: str = ""
    exit_code: int | None = None
    failed: bool = False


class Waiting(Struct, frozen=True, kw_only=True):
    """The agent waits for its provider and retries by itself: it neither works nor hangs."""

    ending: Ending  # what it would end with
    seconds: float | None = None
    text: str = ""


class UsageReport(Struct, frozen=True, kw_only=True):
    """The usage of one more step, for line adapters (`registry.LineAdapter`)."""

    usage: Usage
    part: str = ""  # the id of a message that several lines report: the last line counts
    whole: bool = False  # the total of this model so far, not one more step


Used = UsageReport  # the name by which adapters of other packages import it
Heard = Activity | ToolResult | Waiting  # what one line of a program tells people
StreamEvent = Heard | UsageReport


class StreamState(Struct, frozen=True, kw_only=True):
    """What a program has reported so far. An adapter that needs more has a subclass."""

    began: bool = False  # it started its work: a crash after this is no failed launch
    session: str = ""
    model: str = ""
    claim: str = ""
    last_words: str = ""  # the newest line that is not blank
    heard: tuple[Heard, ...] = ()  # what the newest line reports
    waiting: Waiting | None = None  # for its provider, now
    counted: dict[str, Usage] = {}  # usage by model
    # Usage by message, besides `counted`: several lines report each, and the last of them counts.
    parts: dict[str, Usage] = {}

    @property
    def usage(self) -> tuple[Usage, ...]:
        """All usage so far, by model."""
        by_model: dict[str, Usage] = {}
        for usage in (*self.counted.values(), *self.parts.values()):
            by_model[usage.model] = usage.plus(by_model.get(usage.model))
        return tuple(by_model.values())


class Adapter(Protocol):
    """An agent program as one fold over the lines that it prints.

    All that dos knows of a running program is read from the state of this fold.
    """

    name: str
    vendor: str  # whose limits apply: two programs of one vendor and account share them
    program: str  # looked up on PATH; empty: the adapter has no program of its own
    tested: tuple[str, str]  # the oldest and newest version that the tests ran; empty: any

    def launch(self, prompt: str, settings: Settings) -> Launch:
        """The command that starts the program on a prompt."""

    def begin(self) -> StreamState:
        """The state of a program that has printed nothing."""

    def on_line(self, state: Any, line: str) -> StreamState:
        """The state after one more line. It does not change the given state."""

    def outcome(self, state: Any, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
        """How a program ended whose output led to this state."""


def ending_by_exit_code(exit_code: int | None, clocks: Clocks) -> Ending:
    """The ending of a program whose output tells nothing."""
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
    if exit_code < 0:
        return Ending.KILLED
    return Ending.CRASH
