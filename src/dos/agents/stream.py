"""What the adapters share: reading JSON that may hold anything, and building the state and outcome.

Every reader here returns an empty value instead of raising: a program may print any line.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from msgspec import DecodeError, json, structs

from dos.agents.adapter import (
    Activity,
    AgentOutcome,
    Clocks,
    Ending,
    EndingEvidence,
    StreamState,
    ToolResult,
    Usage,
    Waiting,
    ending_by_exit_code,
)

# How much of what a program prints is kept: events are stored for good, and read by people.
CLAIM_CHARACTERS = 2000
EVIDENCE_CHARACTERS = 500
ACTIVITY_CHARACTERS = 200
RESULT_LINES = 10
KILLED_EXITS = (129, 130, 137, 143)  # how a shell reports SIGHUP, SIGINT, SIGKILL and SIGTERM
MOST_TOKENS = 10**15  # a larger number is not a count of tokens
State = TypeVar("State", bound=StreamState)


def parse_record(line: str) -> dict[str, Any]:
    """The JSON object on a line; empty where there is none.

    Lines that are no JSON are common: programs mix in warnings of their own.
    """
    if not line.lstrip().startswith("{"):
        return {}
    try:
        return as_mapping(json.decode(line))
    except (DecodeError, RecursionError):
        return {}


def as_mapping(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    if isinstance(value, dict):
        return value
    return {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    if isinstance(value, list):
        return value
    return []


def as_text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    if isinstance(value, str):
        return value
    return ""


def as_number(value: object) -> float | None:
    """The value if it is a finite number of plausible size. Booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > MOST_TOKENS * 1000 or not math.isfinite(value):
        return None
    return float(value)


def as_count(value: object) -> int:
    """The value as a count of tokens; 0 where it cannot be one."""
    number = as_number(value)
    if number is None or not 0 <= number <= MOST_TOKENS:
        return 0
    return int(number)


def as_amount(value: object) -> float | None:
    """The value as an amount of money or time; None below 0."""
    number = as_number(value)
    if number is None or number < 0:
        return None
    return number


def nested(value: dict[str, Any], *keys: str) -> Any:
    """The value below a chain of keys; None where one of them is missing."""
    inner: Any = value
    for key in keys:
        inner = as_mapping(inner).get(key)
    return inner


def truncated(text: str, limit: int = CLAIM_CHARACTERS) -> str:
    """The beginning of a text, without blanks around it."""
    return text.strip()[:limit]


def activity(*words: str) -> tuple[Activity, ...]:
    """One line of activity made of these words; nothing where all of them are empty."""
    line = " ".join(" ".join(words).split())
    if not line:
        return ()
    return (Activity(text=truncated(line, ACTIVITY_CHARACTERS)),)


def tool_result(output: str, *, exit_code: object = None, failed: bool = False) -> ToolResult:
    """What a tool returned, cut to its last lines. An exit code other than 0 is a failure."""
    code = as_number(exit_code)
    if code is None:
        return ToolResult(output=_end_of(output), failed=failed)
    return ToolResult(output=_end_of(output), exit_code=int(code), failed=failed or code != 0)


def _end_of(output: str) -> str:
    """The last lines, where errors are reported."""
    lines = output.strip().splitlines()[-RESULT_LINES:]
    return "\n".join(truncated(line, ACTIVITY_CHARACTERS) for line in lines)


def evidence(field: str, raw: object) -> EndingEvidence:
    """The evidence for an ending, cut to a length that fits an event."""
    return EndingEvidence(field=field, raw=truncated(str(raw), EVIDENCE_CHARACTERS))


def next_line(state: State, line: str) -> State:
    """The state after a line that reports nothing: what every adapter starts from."""
    return structs.replace(state, heard=(), last_words=line.strip() or state.last_words)


def with_waiting(state: State, waiting: Waiting) -> State:
    """The state of a program that now waits for its provider."""
    return structs.replace(state, waiting=waiting, heard=(waiting,))


def add_usage(state: State, usage: Usage, *, part: str | None = None) -> State:
    """The state with the usage of one more step.

    `part` is the id of a message that several lines report: the last of them replaces the others.
    """
    if usage.is_empty:
        return state
    if part is not None:
        return structs.replace(state, parts={**state.parts, part: usage})
    counted = usage.plus(state.counted.get(usage.model))
    return structs.replace(state, counted={**state.counted, usage.model: counted})


def set_usage(state: State, usages: Sequence[Usage]) -> State:
    """The state with these totals by model in place of what was counted; none change nothing."""
    if not usages:
        return state
    return structs.replace(state, counted={usage.model: usage for usage in usages}, parts={})


def conclude(
    state: StreamState,
    exit_code: int | None,
    clocks: Clocks,
    *,
    final: AgentOutcome | None = None,
    pending: AgentOutcome | None = None,
) -> AgentOutcome:
    """The outcome of a program that has ended.

    `final` is the outcome that the program itself reported; `pending` what it would have ended
    with while it waited for its provider. What dos did to it comes first, then `final`, then
    `pending`, then the exit code.
    """
    return structs.replace(
        _ending(state, exit_code, clocks, final, pending),
        claim=truncated(state.claim),
        session=state.session,
        model=state.model,
        usage=state.usage,
    )


def _ending(
    state: StreamState,
    exit_code: int | None,
    clocks: Clocks,
    final: AgentOutcome | None,
    pending: AgentOutcome | None,
) -> AgentOutcome:
    """The first of these that applies decides."""
    ending = ending_by_exit_code(exit_code, clocks)
    signal = _signal_number(exit_code)
    by_exit = AgentOutcome(ending=ending, found=evidence("exit", exit_code), signal=signal)
    if clocks.stopped:
        return by_exit
    if final:
        return final
    if pending and ending in (Ending.HANG, Ending.CRASH):
        return pending
    match ending:
        case Ending.BUDGET_CAP:
            return AgentOutcome(ending=ending, found=evidence("budget", clocks.overspent))
        case Ending.HANG:
            return AgentOutcome(ending=ending, found=evidence("clock", _expired_clock(clocks)))
        case Ending.CRASH if signal:
            return structs.replace(by_exit, ending=Ending.KILLED)
    never_began = ending is Ending.CRASH and not state.began
    if never_began or (ending is Ending.LAUNCH_FAILED and state.last_words):
        last_words = evidence("text", state.last_words)
        return AgentOutcome(ending=Ending.LAUNCH_FAILED, found=last_words)
    return by_exit


def _expired_clock(clocks: Clocks) -> str:
    """The time limit that ended the program."""
    if clocks.silent:
        return "silent"
    if clocks.overtime:
        return "overtime"
    return "idle"


def _signal_number(exit_code: int | None) -> int | None:
    """The signal that ended a program; None where none did.

    A shell, and a program that cleans up first, exit with 128 plus the signal's number.
    """
    if exit_code is None:
        return None
    if exit_code < 0:
        return -exit_code
    if exit_code in KILLED_EXITS:
        return exit_code - 128
    return None


def outcome_of_waiting(waiting: Waiting) -> AgentOutcome:
    """What a program ends with that dies while it waits for its provider."""
    return AgentOutcome(
        ending=waiting.ending,
        retry_after_seconds=waiting.seconds,
        found=evidence("waiting", waiting.text),
    )
