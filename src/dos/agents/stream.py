"""What the lines of every program have in common: JSON of which nothing may be taken for granted."""

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
    Usage,
    Waiting,
    ending_by_exit_code,
)

CLAIM_CHARACTERS = 2000
EVIDENCE_CHARACTERS = 500
ACTIVITY_CHARACTERS = 200
KILLED_EXITS = (129, 130, 137, 143)  # as a shell tells of SIGHUP, SIGINT, SIGKILL and SIGTERM
MOST_TOKENS = 10**15  # what a program counts beyond this is no count
State = TypeVar("State", bound=StreamState)


def parse_record(line: str) -> dict[str, Any]:
    """The JSON object on a line; empty where there is none."""
    if not line.lstrip().startswith("{"):
        return {}
    try:
        return as_mapping(json.decode(line))
    except (DecodeError, RecursionError):
        return {}


def as_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_number(value: object) -> float | None:
    """A finite one; true and false are none."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or abs(value) > MOST_TOKENS * 1000
    ):
        return None
    return float(value) if math.isfinite(value) else None


def as_count(value: object) -> int:
    found = as_number(value)
    return int(found) if found is not None and 0 <= found <= MOST_TOKENS else 0


def as_amount(value: object) -> float | None:
    """Of money or of time: nothing below 0."""
    found = as_number(value)
    return found if found is not None and found >= 0 else None


def nested(value: dict[str, Any], *keys: str) -> Any:
    """What lies below the keys; None where one of them is missing."""
    found: Any = value
    for key in keys:
        found = as_mapping(found).get(key)
    return found


def truncated(words: str, limit: int = CLAIM_CHARACTERS) -> str:
    """The beginning; the end of a long claim says no more than that."""
    return words.strip()[:limit]


def activity(*words: str) -> tuple[Activity, ...]:
    """One line for whoever watches; nothing where there are no words."""
    shown = " ".join(" ".join(words).split())
    return (Activity(text=truncated(shown, ACTIVITY_CHARACTERS)),) if shown else ()


def evidence(field: str, raw: object) -> EndingEvidence:
    return EndingEvidence(field=field, raw=truncated(str(raw), EVIDENCE_CHARACTERS))


def next_line(state: State, line: str) -> State:
    """The state with a line that says nothing yet: what every adapter begins with."""
    return structs.replace(state, heard=(), last_words=line.strip() or state.last_words)


def with_waiting(state: State, waiting: Waiting) -> State:
    return structs.replace(state, waiting=waiting, heard=(waiting,))


def add_usage(state: State, usage: Usage, *, part: str | None = None) -> State:
    """With one more step; or with a message that is told of in several lines, the last of which counts."""
    if usage.is_empty:
        return state
    if part is not None:
        return structs.replace(state, parts={**state.parts, part: usage})
    counted = usage.plus(state.counted.get(usage.model))
    return structs.replace(state, counted={**state.counted, usage.model: counted})


def set_usage(state: State, usages: Sequence[Usage]) -> State:
    """With all that was used up to now, by model, in place of what was counted; nothing told changes nothing."""
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
    """Our own hand first, then the program's last word, then what it waited for, then its exit code.

    `final` is that last word; `pending` what it would end with that waits for its provider.
    """
    ending, signal, words = (
        ending_by_exit_code(exit_code, clocks),
        _signal_number(exit_code),
        state.last_words,
    )
    outcome = AgentOutcome(ending=ending, found=evidence("exit", exit_code), signal=signal)
    if clocks.stopped:
        pass
    elif final:
        outcome = final
    elif pending and ending in (Ending.HANG, Ending.CRASH):
        outcome = pending
    elif ending is Ending.BUDGET_CAP:
        outcome = AgentOutcome(ending=ending, found=evidence("budget", clocks.overspent))
    elif ending is Ending.HANG:
        outcome = AgentOutcome(ending=ending, found=evidence("clock", _expired_clock(clocks)))
    elif ending is Ending.LAUNCH_FAILED and words:
        outcome = AgentOutcome(ending=ending, found=evidence("text", words))
    elif ending is Ending.CRASH and signal:
        outcome = structs.replace(outcome, ending=Ending.KILLED)
    elif ending is Ending.CRASH and not state.began:
        outcome = AgentOutcome(ending=Ending.LAUNCH_FAILED, found=evidence("text", words))
    return structs.replace(
        outcome,
        claim=truncated(state.claim),
        session=state.session,
        model=state.model,
        usage=state.usage,
    )


def _expired_clock(clocks: Clocks) -> str:
    return "silent" if clocks.silent else "overtime" if clocks.overtime else "idle"


def _signal_number(exit_code: int | None) -> int | None:
    """A shell, and a program that cleans up first, tell a signal by 128 and its number."""
    if exit_code is None or (exit_code >= 0 and exit_code not in KILLED_EXITS):
        return None
    return -exit_code if exit_code < 0 else exit_code - 128


def outcome_of_waiting(waiting: Waiting) -> AgentOutcome:
    return AgentOutcome(
        ending=waiting.ending,
        retry_after_seconds=waiting.seconds,
        found=evidence("waiting", waiting.text),
    )
