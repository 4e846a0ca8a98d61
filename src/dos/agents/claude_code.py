"""Claude Code: `claude -p`, with one JSON object a line and a `result` at the end.

The `result` alone is not enough: it may call an error a success, so earlier lines count too.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct, structs

from dos.agents import provider_errors, reset_times, stream
from dos.agents.adapter import (
    Activity,
    AgentOutcome,
    Clocks,
    Ending,
    EndingEvidence,
    Launch,
    Scope,
    Settings,
    StreamState,
    ToolResult,
    Usage,
    Waiting,
)
from dos.agents.programs import catalog
from dos.agents.stream import as_list, as_mapping, as_text, nested

name = catalog.CLAUDE_CODE.name
vendor = catalog.CLAUDE_CODE.vendor
program = catalog.CLAUDE_CODE.program
tested = catalog.CLAUDE_CODE.tested

# No person can answer a permission prompt: every tool that is not listed here is denied.
_TOOLS = "Bash,Edit,Write,NotebookEdit,Read,Glob,Grep,Task,TodoWrite,WebFetch,WebSearch,Skill"
_ARGUMENTS = ("-p", "--allowedTools", _TOOLS, "--permission-mode", "acceptEdits")
_OUTPUT_FORMAT = ("--output-format", "stream-json", "--verbose")
_DESCRIBING_INPUTS = ("command", "file_path", "pattern", "description", "prompt", "url")
_MODEL_WINDOWS = ("seven_day_opus", "seven_day_sonnet")
# With any of these the user chooses the conversation.
_SESSION_OPTIONS = ("--session-id", "--resume", "--continue", "-r", "-c")
_SYNTHETIC = "<synthetic>"  # the model of answers that the program itself writes
_EXIT_CODE = re.compile(r"Exit code (\d{1,3})\b\s*")
_WEAKER_THAN_REJECTED = (Ending.TRANSIENT, Ending.USAGE_WINDOW, Ending.UNKNOWN)


def launch(prompt: str, settings: Settings) -> Launch:
    """`claude -p` with the limits of the settings; the prompt is its standard input."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS, *_OUTPUT_FORMAT]
    return Launch(argv=[*argv, *options(settings)], stdin=prompt)


def options(settings: Settings) -> list[str]:
    """The limits of the settings as options, then the arguments of the user."""
    argv: list[str] = []
    if settings.model:
        argv += ["--model", settings.model]
    if settings.max_turns is not None:
        argv += ["--max-turns", str(settings.max_turns)]
    if settings.max_usd is not None:
        argv += ["--max-budget-usd", f"{settings.max_usd:.6f}"]
    names_session = any(word.startswith(_SESSION_OPTIONS) for word in settings.arguments)
    if settings.session and not names_session and not settings.resume:
        argv += ["--session-id", settings.session]
    return [*argv, *settings.arguments]


class Result(Struct, frozen=True, kw_only=True):
    """The `result` record, with the error and the rejected window that came before it."""

    record: dict[str, Any]
    last_error: str
    rejected: dict[str, Any] | None


class State(StreamState, frozen=True, kw_only=True):
    """What Claude Code has reported so far."""

    rejected: dict[str, Any] | None = None  # the newest rate_limit_event, if it closes the window
    last_error: str = ""
    # The newest record that may stop it: a retry, a closed window, or an answer.
    stuck: dict[str, Any] | None = None
    result: Result | None = None


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line."""
    state = stream.next_line(state, line)
    record = stream.parse_record(line)
    state = structs.replace(state, session=as_text(record.get("session_id")) or state.session)
    match record.get("type"), record.get("subtype"):
        case "system", "init":
            return structs.replace(state, began=True, model=as_text(record.get("model")))
        case "system", "api_retry":
            return structs.replace(stream.with_waiting(state, _retry(record)), stuck=record)
        case "rate_limit_event", _:
            return _on_rate_limit(state, record)
        case "assistant", _:
            return _on_answer(state, record)
        case "user", _:
            results = tuple(_tool_results(record))
            return structs.replace(state, stuck=None, waiting=None, heard=results)
        case "result", _:
            return _on_result(state, record)
    return state


def _on_rate_limit(state: State, record: dict[str, Any]) -> State:
    """A rejected window stops it; any other event of this type reopens the window."""
    info = as_mapping(record.get("rate_limit_info"))
    if as_text(info.get("status")) != "rejected":
        return structs.replace(state, rejected=None, stuck=None, waiting=None)
    waiting = Waiting(ending=Ending.USAGE_WINDOW, text=as_text(info.get("rateLimitType")))
    return structs.replace(stream.with_waiting(state, waiting), rejected=record, stuck=record)


def _on_answer(state: State, record: dict[str, Any]) -> State:
    """Each block of a message is a line, and each line repeats the usage of the whole message."""
    state = structs.replace(
        state,
        last_error=as_text(record.get("error")),
        stuck=record,
        claim=_answer_text(record) or state.claim,
    )
    usage = _own_usage(as_mapping(record.get("message")))
    state = stream.add_usage(state, usage, part=as_text(nested(record, "message", "id")))
    if record.get("error"):
        return state  # an answer that reports an error is no activity
    return structs.replace(state, heard=_activities(record), waiting=None)


def _on_result(state: State, record: dict[str, Any]) -> State:
    """The result replaces the usage counted so far by the totals of the process."""
    result = Result(record=record, last_error=state.last_error, rejected=state.rejected)
    state = structs.replace(
        state,
        began=True,
        stuck=None,
        claim=as_text(record.get("result")) or state.claim,
        result=result,
    )
    return stream.set_usage(state, _usage(record))


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its result; without one, by what stopped it last."""
    now = clocks.ended_at
    pending = _pending(state, now)
    final = None
    if state.result is not None:
        rejected = _rejection(state.result.rejected, now)
        final = _judge(state.result.record, state.result.last_error, rejected, now)
    elif exit_code == 0:
        final = pending  # it gave up politely: the last problem is why
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _pending(state: State, now: datetime) -> AgentOutcome | None:
    """What it would end with if it died now; None while nothing stops it."""
    if state.stuck is None:
        return None
    rejected = _rejection(state.rejected, now)
    match state.stuck.get("type"):
        case "assistant":
            return _failure(state.stuck, state.last_error, rejected, now)
        case "system":
            return rejected or stream.outcome_of_waiting(_retry(state.stuck))
    return rejected


def _failure(
    record: dict[str, Any], error: str, rejected: AgentOutcome | None, now: datetime
) -> AgentOutcome | None:
    """What an answer that the program wrote itself would end it with; None: it continues."""
    if not error and nested(record, "message", "model") != _SYNTHETIC:
        return None
    judged = provider_errors.classify_failure(_answer_text(record), now, kinds=[error])
    if rejected and judged.ending in _WEAKER_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    if judged.ending is Ending.UNKNOWN:
        return None
    return judged


def _judge(
    result: dict[str, Any], last_error: str, rejected: AgentOutcome | None, now: datetime
) -> AgentOutcome:
    """The outcome of a result: success, a provider's limit, a denied permission or an error."""
    denials = _denials(result)
    if result.get("subtype") == "success" and result.get("is_error") is False:
        proof = denials or stream.evidence("subtype", "success")
        return AgentOutcome(ending=Ending.OK, found=proof)
    errors = [as_text(error) for error in as_list(result.get("errors"))]
    judged = provider_errors.classify_failure(
        "\n".join([as_text(result.get("result")), *errors]),
        now,
        status=_status(result.get("api_error_status")),
        kinds=[as_text(result.get("subtype")), as_text(result.get("terminal_reason")), last_error],
    )
    if rejected and judged.ending in _WEAKER_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    if denials and judged.ending is Ending.UNKNOWN:
        return AgentOutcome(ending=Ending.PERMISSION, found=denials)
    return judged


def _denials(result: dict[str, Any]) -> EndingEvidence | None:
    """The tools that it was not allowed to use; None when there are none."""
    denials = as_list(result.get("permission_denials"))
    if not denials:
        return None
    tools = [as_text(as_mapping(denial).get("tool_name")) for denial in denials]
    return stream.evidence("permission_denials", ", ".join(tools))


def _status(value: object) -> int | None:
    number = stream.as_number(value)
    if number is None:
        return None
    return int(number)


def _retry(record: dict[str, Any]) -> Waiting:
    """What an `api_retry` record waits for."""
    error = as_text(record.get("error"))
    seconds = stream.as_amount(record.get("retry_delay_ms"))
    if seconds is not None:
        seconds /= 1000
    return provider_errors.classify_retry(
        error, status=_status(record.get("error_status")), kinds=[error], seconds=seconds
    )


def _rejection(record: dict[str, Any] | None, now: datetime) -> AgentOutcome | None:
    """The outcome of a rate_limit_event that closes the window."""
    if record is None:
        return None
    info = as_mapping(record.get("rate_limit_info"))
    window = as_text(info.get("rateLimitType"))
    scope = Scope.ACCOUNT
    if window in _MODEL_WINDOWS:
        scope = Scope.MODEL
    rejection = AgentOutcome(
        ending=Ending.SPEND_STOP,
        found=stream.evidence("rate_limit_info.status", "rejected"),
        scope=scope,
        window=window,
    )
    if info.get("errorCode") == "credits_required":
        return rejection
    resets = info.get("resetsAt")
    if window == "overage":
        resets = info.get("overageResetsAt") or resets
    resets_at = reset_times.moment_of_epoch(stream.as_number(resets), now)
    return structs.replace(rejection, ending=Ending.USAGE_WINDOW, resets_at=resets_at)


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [as_mapping(block) for block in as_list(nested(record, "message", "content"))]


def _answer_text(record: dict[str, Any]) -> str:
    texts = [block for block in _blocks(record) if block.get("type") == "text"]
    return "\n".join(as_text(block.get("text")) for block in texts)


def _activities(record: dict[str, Any]) -> tuple[Activity, ...]:
    """What an answer does: text, thinking, tools."""
    activities: tuple[Activity, ...] = ()
    for block in _blocks(record):
        match block.get("type"):
            case "text":
                activities += stream.activity(as_text(block.get("text")))
            case "thinking":
                activities += stream.activity("thinking")
            case "tool_use":
                subject = _tool_subject(as_mapping(block.get("input")))
                activities += stream.activity(as_text(block.get("name")), subject)
    return activities


def _tool_results(record: dict[str, Any]) -> Iterator[ToolResult]:
    for block in _blocks(record):
        if block.get("type") != "tool_result":
            continue
        output = as_text(block.get("content")) or "\n".join(
            as_text(as_mapping(part).get("text")) for part in as_list(block.get("content"))
        )
        failed = block.get("is_error") is True
        # Only the text of a failed command tells its exit code.
        exit_code = _EXIT_CODE.match(output) if failed else None
        if exit_code:
            output = output[exit_code.end() :]
        yield stream.tool_result(output, exit_code=exit_code and int(exit_code[1]), failed=failed)


def _tool_subject(tool_input: dict[str, Any]) -> str:
    """The input that best tells what a tool is used on."""
    for key in _DESCRIBING_INPUTS:
        value = as_text(tool_input.get(key))
        if value:
            return value
    return ""


def _own_usage(record: dict[str, Any]) -> Usage:
    """The usage of a message; of a result, that of the main conversation alone."""
    usage = as_mapping(record.get("usage"))
    return Usage(
        model=as_text(record.get("model")),
        input_tokens=stream.as_count(usage.get("input_tokens")),
        cached_tokens=stream.as_count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=stream.as_count(usage.get("cache_creation_input_tokens")),
        output_tokens=stream.as_count(usage.get("output_tokens")),
    )


def _usage(result: dict[str, Any]) -> list[Usage]:
    """The usage of the whole process, with subagents and other models."""
    by_model = as_mapping(result.get("modelUsage"))
    cost_usd = stream.as_amount(result.get("total_cost_usd"))
    if not by_model and cost_usd:
        return [structs.replace(_own_usage(result), cost_usd=cost_usd)]
    return [_model_usage(model, as_mapping(used)) for model, used in by_model.items()]


def _model_usage(model: str, used: dict[str, Any]) -> Usage:
    return Usage(
        model=model,
        input_tokens=stream.as_count(used.get("inputTokens")),
        cached_tokens=stream.as_count(used.get("cacheReadInputTokens")),
        cache_write_tokens=stream.as_count(used.get("cacheCreationInputTokens")),
        output_tokens=stream.as_count(used.get("outputTokens")),
        cost_usd=stream.as_amount(used.get("costUSD")),
    )
