"""pi: `pi -p --mode json`, JSON lines with the usage and the cost of each message.

It exits with 0 also when its provider refused: how it ended is told by its last message.
"""

import re
from typing import Any

from msgspec import structs

from dos.agents import provider_errors, stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Heard,
    Launch,
    Settings,
    StreamState,
    Usage,
)
from dos.agents.programs import catalog
from dos.agents.stream import as_list, as_mapping, as_text, nested

name = catalog.PI.name
vendor = catalog.PI.vendor
program = catalog.PI.program
tested = catalog.PI.tested

_ARGUMENTS = ("-p", "--mode", "json")
_STATUS = re.compile(r"^(\d{3})\b")
_STOP_REASONS = {"stop": Ending.OK, "length": Ending.CONTEXT}


def launch(prompt: str, settings: Settings) -> Launch:
    """`pi -p --mode json`; the prompt is its standard input."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    """What pi has reported so far."""

    stop_reason: str = ""  # of its newest message
    error: str = ""  # why that message failed
    settled: bool = False  # it has nothing left to do


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line."""
    state = stream.next_line(state, line)
    record = stream.parse_record(line)
    match record.get("type"):
        case "session":
            return structs.replace(state, session=as_text(record.get("id")))
        case "agent_start":
            return structs.replace(state, began=True, settled=False)
        case "message_end":
            return _on_message(state, as_mapping(record.get("message")))
        case "tool_execution_start":
            return structs.replace(state, heard=_tool_call(record))
        case "tool_execution_end":
            return structs.replace(state, heard=_tool_result(record))
        case _:
            return _on_progress(state, record)


def _on_progress(state: State, record: dict[str, Any]) -> State:
    """The state after a record about its retries, or about its end."""
    match record.get("type"):
        case "auto_retry_start":
            return _on_retry(state, record)
        case "auto_retry_end" if record.get("success") is True:
            return structs.replace(state, waiting=None)
        case "agent_settled":
            return structs.replace(state, settled=True)
    return state


def _on_retry(state: State, record: dict[str, Any]) -> State:
    """It waits for its provider before it tries again."""
    message = as_text(record.get("errorMessage"))
    delay_ms = stream.as_amount(record.get("delayMs"))
    seconds = None
    if delay_ms is not None:
        seconds = delay_ms / 1000
    waiting = provider_errors.classify_retry(message, status=_status(message), seconds=seconds)
    return stream.with_waiting(state, waiting)


def _on_message(state: State, message: dict[str, Any]) -> State:
    """The state after a message of the model; those of tools and users tell nothing more."""
    if message.get("role") != "assistant":
        return state
    stop_reason = as_text(message.get("stopReason"))
    state = structs.replace(
        state,
        stop_reason=stop_reason,
        error=as_text(message.get("errorMessage")),
        model=as_text(message.get("model")) or state.model,
    )
    if stop_reason == "error":
        return state
    state = structs.replace(state, waiting=None)
    parts = [as_mapping(part) for part in as_list(message.get("content"))]
    text = "\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "text")
    if text:
        state = structs.replace(state, claim=text, heard=stream.activity(text))
    return stream.add_usage(state, _usage(state.model, as_mapping(message.get("usage"))))


def _usage(model: str, told: dict[str, Any]) -> Usage:
    """The usage of one message. A cost of 0 means that it has no price for the model."""
    return Usage(
        model=model,
        input_tokens=stream.as_count(told.get("input")),
        cached_tokens=stream.as_count(told.get("cacheRead")),
        cache_write_tokens=stream.as_count(told.get("cacheWrite")),
        output_tokens=stream.as_count(told.get("output")),
        cost_usd=stream.as_amount(nested(told, "cost", "total")) or None,
    )


def _tool_call(record: dict[str, Any]) -> tuple[Heard, ...]:
    """A tool that it begins to use."""
    arguments = as_mapping(record.get("args"))
    subject = as_text(arguments.get("command")) or as_text(arguments.get("path"))
    return stream.activity(as_text(record.get("toolName")), subject)


def _tool_result(record: dict[str, Any]) -> tuple[Heard, ...]:
    """What a tool returned; pi tells the exit code in words only."""
    parts = [as_mapping(part) for part in as_list(nested(record, "result", "content"))]
    output = "\n".join(as_text(part.get("text")) for part in parts)
    return (stream.tool_result(output, failed=record.get("isError") is True),)


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its last message; what it waited for counts where it was cut off."""
    final = None
    if state.settled and state.stop_reason:
        final = _by_last_message(state, clocks)
    pending = None
    if state.waiting is not None:
        pending = stream.outcome_of_waiting(state.waiting)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _by_last_message(state: State, clocks: Clocks) -> AgentOutcome:
    if state.stop_reason == "error":
        return provider_errors.classify_failure(
            state.error, clocks.ended_at, status=_status(state.error)
        )
    ending = _STOP_REASONS.get(state.stop_reason, Ending.UNKNOWN)
    return AgentOutcome(ending=ending, found=stream.evidence("status", state.stop_reason))


def _status(message: str) -> int | None:
    """The HTTP status that an error message begins with."""
    found = _STATUS.match(message)
    if found is None:
        return None
    return int(found[1])
