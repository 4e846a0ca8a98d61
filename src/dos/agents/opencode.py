"""opencode: JSON lines without a result; only its log tells when its provider is limited.

A cost of 0 means that it has no price for the model, so such a cost counts as not known.
"""

import re
from typing import Any

from msgspec import Struct, structs

from dos.agents import provider_errors, reset_times, stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Settings,
    StreamState,
    ToolResult,
    Usage,
)
from dos.agents.programs import catalog
from dos.agents.stream import as_mapping, as_text, nested

name = catalog.OPENCODE.name
vendor = catalog.OPENCODE.vendor
program = catalog.OPENCODE.program
tested = catalog.OPENCODE.tested

# --auto: what the user's settings deny stays denied, and no permission prompt waits for an answer.
_ARGUMENTS = ("run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto")
_LOGGED = re.compile(
    r'^timestamp=\S+ level=ERROR (?!.*\bsmall=true\b).*?\bmessage="?(stream error|process|failed)\b'
)
_REASON = re.compile(r'\berror(?:\.error)?="((?:[^"\\]|\\.)*)"')
_REJECTED = "permission requested:"


def launch(prompt: str, settings: Settings) -> Launch:
    """`opencode run` with JSON output and its error log; the prompt is its standard input."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.directory:  # it trusts PWD instead of asking the system where it runs
        argv += ["--dir", settings.directory]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    """What opencode has reported so far."""

    stuck: str | None = None  # the error after which it tries again
    logged: str = ""  # the reason of the newest error in its log
    denied: str = ""  # the line that reports a denied permission
    error: dict[str, Any] | None = None


class LogError(Struct, frozen=True, kw_only=True):
    """An error line of its log."""

    kind: str
    reason: str


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line: a record, a line of its log, or a denied permission.

    Only a `stream error` is tried again; other errors of the log may explain how it ends.
    """
    state = stream.next_line(state, line)
    logged = _log_error(line)
    if logged:
        state = structs.replace(state, logged=logged.reason)
        if logged.kind != "stream error":
            return state
        waiting = provider_errors.classify_retry(logged.reason)
        return structs.replace(stream.with_waiting(state, waiting), stuck=logged.reason)
    record = stream.parse_record(line)
    if not record:
        if _REJECTED in line:
            return structs.replace(state, denied=line.strip())
        return state
    if record.get("type") == "session.status":
        return _on_status(state, as_mapping(record.get("status")))
    session = as_text(record.get("sessionID")) or state.session
    state = structs.replace(state, began=True, stuck=None, session=session)
    if record.get("type") == "error":
        return structs.replace(state, error=as_mapping(record.get("error")))
    return _on_part(structs.replace(state, waiting=None), record)


def _on_status(state: State, status: dict[str, Any]) -> State:
    """The state after what the plugin of dos reports: a retry, of which the program prints nothing.

    Only a record shows that the agent works again: "busy" is also a retry that fails.
    """
    if status.get("type") != "retry":
        return state
    message = as_text(status.get("message"))
    seconds = stream.as_amount(status.get("seconds"))
    waiting = provider_errors.classify_retry(message, seconds=seconds)
    return structs.replace(stream.with_waiting(state, waiting), stuck=message)


def _on_part(state: State, record: dict[str, Any]) -> State:
    """The state after a record that shows that the agent works."""
    match record.get("type"):
        case "step_start":  # a tool is reported only when it has finished
            heard = stream.activity("thinking")
            return structs.replace(state, error=None, logged="", denied="", heard=heard)
        case "text":
            text = as_text(nested(record, "part", "text"))
            return structs.replace(state, claim=text, heard=stream.activity(text))
        case "tool_use":
            tool_input = as_mapping(nested(record, "part", "state", "input"))
            subject = as_text(tool_input.get("command")) or as_text(tool_input.get("filePath"))
            heard = stream.activity(as_text(nested(record, "part", "tool")), subject)
            return structs.replace(state, heard=(*heard, _tool_result(record)))
        case "step_finish":
            return stream.add_usage(state, _usage(record))
    return state


def _tool_result(record: dict[str, Any]) -> ToolResult:
    """What a tool returned; opencode reports its call and its result in one record."""
    tool = as_mapping(nested(record, "part", "state"))
    return stream.tool_result(
        as_text(tool.get("output")) or as_text(tool.get("error")),
        exit_code=nested(tool, "metadata", "exit"),
        failed=tool.get("status") == "error",
    )


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its error record, its log, or a permission that it was denied."""
    final = None
    if state.error is not None:
        final = _judge(state.error, clocks)
    if final and final.ending is Ending.UNKNOWN and state.logged:
        final = provider_errors.classify_failure(state.logged, clocks.ended_at)
    elif state.denied and not final and exit_code == 0:
        proof = stream.evidence("text", state.denied)
        final = AgentOutcome(ending=Ending.PERMISSION, found=proof)
    pending = None
    if state.stuck is not None:
        pending = provider_errors.classify_failure(
            state.stuck, clocks.ended_at, otherwise=Ending.TRANSIENT
        )
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _judge(error: dict[str, Any], clocks: Clocks) -> AgentOutcome:
    """The outcome of an error record, with the retry time of its HTTP headers."""
    data = as_mapping(error.get("data"))
    now = clocks.ended_at
    status = None
    status_code = stream.as_number(data.get("statusCode"))
    if status_code is not None:
        status = int(status_code)
    judged = provider_errors.classify_failure(
        as_text(data.get("message")), now, status=status, kinds=[as_text(error.get("name"))]
    )
    headers = as_mapping(data.get("responseHeaders"))
    try:
        seconds = float(as_text(headers.get("retry-after")))
    except ValueError:
        return judged
    if judged.resets_at:
        return judged
    return reset_times.with_reset_time(judged, reset_times.moment_after(seconds, now), now)


def _log_error(line: str) -> LogError | None:
    """The error on a line of its log; None where the line is none."""
    kind = _LOGGED.match(line)
    reason = _REASON.search(line)
    if not kind or not reason:
        return None
    # The name of the class before the reason tells nothing, and hides its first words.
    return LogError(kind=kind[1], reason=reason[1].removeprefix("AI_APICallError: "))


def _usage(record: dict[str, Any]) -> Usage:
    """The usage of one step. A cost of 0 means that it has no price for the model."""
    tokens = as_mapping(nested(record, "part", "tokens"))
    fresh = stream.as_count(tokens.get("input"))
    cached = stream.as_count(nested(tokens, "cache", "read"))
    written = stream.as_count(nested(tokens, "cache", "write"))
    output = stream.as_count(tokens.get("output"))
    if "total" in tokens:
        with_reasoning = stream.as_count(tokens.get("total")) - fresh - cached - written
    else:
        with_reasoning = output + stream.as_count(tokens.get("reasoning"))
    return Usage(
        input_tokens=fresh,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=max(output, with_reasoning),
        cost_usd=stream.as_amount(nested(record, "part", "cost")) or None,
    )
