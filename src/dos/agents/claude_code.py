"""Claude Code: `claude -p`, one JSON object on each line, a `result` at the end that is not to be believed alone."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import structs

from dos.agents import failures, moments, reading
from dos.agents.adapter import Activity, Clocks, Heard, Launch, Settings, Waiting
from dos.agents.reading import Told, mapping, sequence, text, within
from dos.records.endings import Ending, Outcome, Scope, Usage

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
_OF_SESSIONS = ("--session-id", "--resume", "--continue", "-r", "-c")  # the user's own choice of a conversation
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


def parse(line: str) -> tuple[Heard, ...]:
    said = reading.record(line)
    match said.get("type"), said.get("subtype"):
        case "assistant", _ if not said.get("error"):
            part = text(within(said, "message", "id"))
            return (*_activities(said), *reading.used(_own_usage(mapping(said.get("message"))), part=part))
        case "system", "api_retry":
            return (_retry(said),)
        case "rate_limit_event", _ if _is_rejected(said):
            return (Waiting(ending=Ending.USAGE_WINDOW, text=text(within(said, "rate_limit_info", "rateLimitType"))),)
        case "result", _:
            return tuple(heard for usage in _usage(said) for heard in reading.used(usage, whole=True))
    return ()


def outcome(lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
    told, now = Told(), clocks.ended_at
    rejected, last_error = None, ""
    spoken: dict[str, Usage] = {}  # by message: each of its blocks is a line that repeats the whole message's usage
    for said in reading.records(lines):
        told.session = text(said.get("session_id")) or told.session
        match said.get("type"), said.get("subtype"):
            case "system", "init":
                told.began, told.model = True, text(said.get("model"))
            case "system", "api_retry":
                told.pending = rejected or reading.by_waiting(_retry(said))
            case "rate_limit_event", _:
                rejected = _rejection(said, now) if _is_rejected(said) else None
                told.pending = rejected
            case "assistant", _:
                last_error = text(said.get("error"))
                told.pending = _failure(said, last_error, rejected, now)
                told.claim = _said(said) or told.claim
                spoken[text(within(said, "message", "id"))] = _own_usage(mapping(said.get("message")))
            case "user", _:
                told.pending = None
            case "result", _:
                told.began, told.pending = True, None
                told.claim = text(said.get("result")) or told.claim
                told.usage = {usage.model: usage for usage in _usage(said)}
                told.final = _judge(said, last_error, rejected, now)
    if not told.usage:
        for usage in spoken.values():
            told.use(usage)
    if exit_code == 0 and not told.final:
        told.final = told.pending  # the last thing that it told is why it could not go on
    return reading.concluded(told, exit_code, clocks, lines)


def _failure(said: dict[str, Any], error: str, rejected: Outcome | None, now: datetime) -> Outcome | None:
    """What an answer that it made up itself would end it with; None: it goes on."""
    if not error and within(said, "message", "model") != _MADE_UP:
        return None
    judged = failures.judge(_said(said), now, kinds=[error])
    if rejected and judged.ending in _LESS_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    return judged if judged.ending is not Ending.UNKNOWN else None


def _judge(result: dict[str, Any], last_error: str, rejected: Outcome | None, now: datetime) -> Outcome:
    denied = [text(mapping(each).get("tool_name")) for each in sequence(result.get("permission_denials"))]
    denials = reading.found("permission_denials", ", ".join(denied)) if denied else None
    if result.get("subtype") == "success" and result.get("is_error") is False:
        return Outcome(ending=Ending.OK, found=denials or reading.found("subtype", "success"))
    errors = [text(each) for each in sequence(result.get("errors"))]
    judged = failures.judge(
        "\n".join([text(result.get("result")), *errors]),
        now,
        status=_status(result.get("api_error_status")),
        kinds=[text(result.get("subtype")), text(result.get("terminal_reason")), last_error],
    )
    if rejected and judged.ending in _LESS_THAN_REJECTED:
        return structs.replace(rejected, resets_at=rejected.resets_at or judged.resets_at)
    if denials and judged.ending is Ending.UNKNOWN:
        return Outcome(ending=Ending.PERMISSION, found=denials)
    return judged


def _status(value: object) -> int | None:
    told = reading.number(value)
    return int(told) if told is not None else None


def _retry(said: dict[str, Any]) -> Waiting:
    delay = reading.amount(said.get("retry_delay_ms"))
    return failures.waiting(
        text(said.get("error")),
        status=_status(said.get("error_status")),
        kinds=[text(said.get("error"))],
        seconds=delay / 1000 if delay is not None else None,
    )


def _is_rejected(said: dict[str, Any]) -> bool:
    return text(within(said, "rate_limit_info", "status")) == "rejected"


def _rejection(said: dict[str, Any], now: datetime) -> Outcome:
    info = mapping(said.get("rate_limit_info"))
    window = text(info.get("rateLimitType"))
    needs_credit = info.get("errorCode") == "credits_required"
    resets = (info.get("overageResetsAt") if window == "overage" else None) or info.get("resetsAt")
    return Outcome(
        ending=Ending.SPEND_STOP if needs_credit else Ending.USAGE_WINDOW,
        found=reading.found("rate_limit_info.status", "rejected"),
        resets_at=None if needs_credit else moments.epoch(reading.number(resets), now),
        scope=Scope.MODEL if window in _OF_ONE_MODEL else Scope.ACCOUNT,
        window=window,
    )


def _blocks(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [mapping(block) for block in sequence(within(said, "message", "content"))]


def _said(said: dict[str, Any]) -> str:
    return "\n".join(text(block.get("text")) for block in _blocks(said) if block.get("type") == "text")


def _activities(said: dict[str, Any]) -> tuple[Activity, ...]:
    heard: tuple[Activity, ...] = ()
    for block in _blocks(said):
        if block.get("type") == "text":
            heard += reading.activity(text(block.get("text")))
        elif block.get("type") == "thinking":
            heard += reading.activity("thinking")
        elif block.get("type") == "tool_use":
            given = mapping(block.get("input"))
            about = next((value for key in _TOLD_OF_TOOLS if (value := text(given.get(key)))), "")
            heard += reading.activity(text(block.get("name")), about)
    return heard


def _own_usage(told: dict[str, Any]) -> Usage:
    """Of a message; or of a result, for the main conversation alone."""
    usage = mapping(told.get("usage"))
    return Usage(
        model=text(told.get("model")),
        input_tokens=reading.count(usage.get("input_tokens")),
        cached_tokens=reading.count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=reading.count(usage.get("cache_creation_input_tokens")),
        output_tokens=reading.count(usage.get("output_tokens")),
    )


def _usage(result: dict[str, Any]) -> list[Usage]:
    """Of the latest result: it holds the whole process, helpers and other models included."""
    by_model = mapping(result.get("modelUsage"))
    if not by_model and (cost := reading.amount(result.get("total_cost_usd"))):
        return [structs.replace(_own_usage(result), cost_usd=cost)]
    return [
        Usage(
            model=model,
            input_tokens=reading.count(mapping(used).get("inputTokens")),
            cached_tokens=reading.count(mapping(used).get("cacheReadInputTokens")),
            cache_write_tokens=reading.count(mapping(used).get("cacheCreationInputTokens")),
            output_tokens=reading.count(mapping(used).get("outputTokens")),
            cost_usd=reading.amount(mapping(used).get("costUSD")),
        )
        for model, used in by_model.items()
    ]
