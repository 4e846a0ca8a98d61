"""Claude Code: `claude -p`, one JSON object on each line, a `result` at the end that is not to be believed alone."""

from datetime import datetime
from typing import Any

from msgspec import Struct, structs

from dos.agents import provider_errors, reset_times, stream
from dos.agents.adapter import (
    Activity,
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Scope,
    Settings,
    StreamState,
    Usage,
    Waiting,
)
from dos.agents.stream import as_list, as_mapping, as_text, nested

name = "claude_code"
vendor = "anthropic"
program = "claude"
tested = ("2.1.110", "2.1")  # from the version that tells api_error_status on

# Nobody is there to be asked: what is not allowed here is denied.
_TOOLS = "Bash,Edit,Write,NotebookEdit,Read,Glob,Grep,Task,TodoWrite,WebFetch,WebSearch,Skill"
_ARGUMENTS = ("-p", "--allowedTools", _TOOLS, "--permission-mode", "acceptEdits")
_SPEAKING = ("--output-format", "stream-json", "--verbose")
_TOLD_OF_TOOLS = ("command", "file_path", "pattern", "description", "prompt", "url")
_OF_ONE_MODEL = ("seven_day_opus", "seven_day_sonnet")
_OF_SESSIONS = (
    "--session-id",
    "--resume",
    "--continue",
    "-r",
    "-c",
)  # the user's own choice of a conversation
_MADE_UP = "<synthetic>"  # the model of what it says itself
_LESS_THAN_REJECTED = (Ending.TRANSIENT, Ending.USAGE_WINDOW, Ending.UNKNOWN)


def launch(prompt: str, settings: Settings) -> Launch:
    argv = [*(settings.command or (program,)), *_ARGUMENTS, *_SPEAKING]
    if settings.model:
        argv += ["--model", settings.model]
    if settings.max_turns is not None:
        argv += ["--max-turns", str(settings.max_turns)]
    if settings.max_usd is not None:
        argv += ["--max-budget-usd", f"{settings.max_usd:.6f}"]
    if settings.session and not any(word.startswith(_OF_SESSIONS) for word in settings.arguments):
        argv += ["--session-id", settings.session]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


class Result(Struct, frozen=True, kw_only=True):
    """Its last word, with what it had told before."""

    said: dict[str, Any]
    last_error: str
    rejected: dict[str, Any] | None


class State(StreamState, frozen=True, kw_only=True):
    rejected: dict[str, Any] | None = None  # the newest word about its window, if that is closed
    last_error: str = ""
    stuck: dict[str, Any] | None = (
        None  # told of a retry, a closed window, or in an answer that it made up itself
    )
    result: Result | None = None


def begin() -> State:
    return State()


def on_line(state: State, line: str) -> State:
    state, said = stream.next_line(state, line), stream.parse_record(line)
    state = structs.replace(state, session=as_text(said.get("session_id")) or state.session)
    match said.get("type"), said.get("subtype"):
        case "system", "init":
            return structs.replace(state, began=True, model=as_text(said.get("model")))
        case "system", "api_retry":
            return structs.replace(stream.with_waiting(state, _retry(said)), stuck=said)
        case "rate_limit_event", _ if _is_rejected(said):
            window = as_text(nested(said, "rate_limit_info", "rateLimitType"))
            state = stream.with_waiting(state, Waiting(ending=Ending.USAGE_WINDOW, text=window))
            return structs.replace(state, rejected=said, stuck=said)
        case "rate_limit_event", _:
            return structs.replace(state, rejected=None, stuck=None, waiting=None)
        case "assistant", _:
            return _on_answer(state, said)
        case "user", _:
            return structs.replace(state, stuck=None, waiting=None)
        case "result", _:
            return _on_result(state, said)
    return state


def _on_answer(state: State, said: dict[str, Any]) -> State:
    """Each block of a message is a line that repeats the usage of the whole message."""
    error = as_text(said.get("error"))
    state = structs.replace(state, last_error=error, stuck=said, claim=_said(said) or state.claim)
    state = stream.add_usage(
        state,
        _own_usage(as_mapping(said.get("message"))),
        part=as_text(nested(said, "message", "id")),
    )
    if said.get("error"):
        return state  # giving up is not going on
    return structs.replace(state, heard=_activities(said), waiting=None)


def _on_result(state: State, said: dict[str, Any]) -> State:
    return stream.set_usage(
        structs.replace(
            state,
            began=True,
            stuck=None,
            claim=as_text(said.get("result")) or state.claim,
            result=Result(said=said, last_error=state.last_error, rejected=state.rejected),
        ),
        _usage(said),
    )


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    now, final = clocks.ended_at, None
    pending = _pending(state, now)
    if (last := state.result) is not None:
        final = _judge(last.said, last.last_error, _rejection(last.rejected, now), now)
    elif exit_code == 0:
        final = pending  # the last thing that it told is why it could not go on
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _pending(state: State, now: datetime) -> AgentOutcome | None:
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
    said: dict[str, Any], error: str, rejected: AgentOutcome | None, now: datetime
) -> AgentOutcome | None:
    """What an answer that it made up itself would end it with; None: it goes on."""
    if not error and nested(said, "message", "model") != _MADE_UP:
        return None
    judged = provider_errors.classify_failure(_said(said), now, kinds=[error])
    if rejected and judged.ending in _LESS_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    return judged if judged.ending is not Ending.UNKNOWN else None


def _judge(
    result: dict[str, Any], last_error: str, rejected: AgentOutcome | None, now: datetime
) -> AgentOutcome:
    denied = [
        as_text(as_mapping(each).get("tool_name"))
        for each in as_list(result.get("permission_denials"))
    ]
    denials = stream.evidence("permission_denials", ", ".join(denied)) if denied else None
    if result.get("subtype") == "success" and result.get("is_error") is False:
        return AgentOutcome(
            ending=Ending.OK, found=denials or stream.evidence("subtype", "success")
        )
    errors = [as_text(each) for each in as_list(result.get("errors"))]
    judged = provider_errors.classify_failure(
        "\n".join([as_text(result.get("result")), *errors]),
        now,
        status=_status(result.get("api_error_status")),
        kinds=[as_text(result.get("subtype")), as_text(result.get("terminal_reason")), last_error],
    )
    if rejected and judged.ending in _LESS_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    if denials and judged.ending is Ending.UNKNOWN:
        return AgentOutcome(ending=Ending.PERMISSION, found=denials)
    return judged


def _status(value: object) -> int | None:
    told = stream.as_number(value)
    return int(told) if told is not None else None


def _retry(said: dict[str, Any]) -> Waiting:
    delay = stream.as_amount(said.get("retry_delay_ms"))
    return provider_errors.classify_retry(
        as_text(said.get("error")),
        status=_status(said.get("error_status")),
        kinds=[as_text(said.get("error"))],
        seconds=delay / 1000 if delay is not None else None,
    )


def _is_rejected(said: dict[str, Any]) -> bool:
    return as_text(nested(said, "rate_limit_info", "status")) == "rejected"


def _rejection(said: dict[str, Any] | None, now: datetime) -> AgentOutcome | None:
    if said is None:
        return None
    info = as_mapping(said.get("rate_limit_info"))
    window = as_text(info.get("rateLimitType"))
    needs_credit = info.get("errorCode") == "credits_required"
    resets = (info.get("overageResetsAt") if window == "overage" else None) or info.get("resetsAt")
    return AgentOutcome(
        ending=Ending.SPEND_STOP if needs_credit else Ending.USAGE_WINDOW,
        found=stream.evidence("rate_limit_info.status", "rejected"),
        resets_at=None
        if needs_credit
        else reset_times.moment_of_epoch(stream.as_number(resets), now),
        scope=Scope.MODEL if window in _OF_ONE_MODEL else Scope.ACCOUNT,
        window=window,
    )


def _blocks(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [as_mapping(block) for block in as_list(nested(said, "message", "content"))]


def _said(said: dict[str, Any]) -> str:
    return "\n".join(
        as_text(block.get("text")) for block in _blocks(said) if block.get("type") == "text"
    )


def _activities(said: dict[str, Any]) -> tuple[Activity, ...]:
    heard: tuple[Activity, ...] = ()
    for block in _blocks(said):
        if block.get("type") == "text":
            heard += stream.activity(as_text(block.get("text")))
        elif block.get("type") == "thinking":
            heard += stream.activity("thinking")
        elif block.get("type") == "tool_use":
            given = as_mapping(block.get("input"))
            about = next(
                (value for key in _TOLD_OF_TOOLS if (value := as_text(given.get(key)))), ""
            )
            heard += stream.activity(as_text(block.get("name")), about)
    return heard


def _own_usage(told: dict[str, Any]) -> Usage:
    """Of a message; or of a result, for the main conversation alone."""
    usage = as_mapping(told.get("usage"))
    return Usage(
        model=as_text(told.get("model")),
        input_tokens=stream.as_count(usage.get("input_tokens")),
        cached_tokens=stream.as_count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=stream.as_count(usage.get("cache_creation_input_tokens")),
        output_tokens=stream.as_count(usage.get("output_tokens")),
    )


def _usage(result: dict[str, Any]) -> list[Usage]:
    """Of the latest result: it holds the whole process, helpers and other models included."""
    by_model = as_mapping(result.get("modelUsage"))
    if not by_model and (cost := stream.as_amount(result.get("total_cost_usd"))):
        return [structs.replace(_own_usage(result), cost_usd=cost)]
    return [
        Usage(
            model=model,
            input_tokens=stream.as_count(as_mapping(used).get("inputTokens")),
            cached_tokens=stream.as_count(as_mapping(used).get("cacheReadInputTokens")),
            cache_write_tokens=stream.as_count(as_mapping(used).get("cacheCreationInputTokens")),
            output_tokens=stream.as_count(as_mapping(used).get("outputTokens")),
            cost_usd=stream.as_amount(as_mapping(used).get("costUSD")),
        )
        for model, used in by_model.items()
    ]
