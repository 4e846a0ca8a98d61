"""Gemini CLI: JSON lines, and between them its retries as plain text from standard error.

Its exit code may be an HTTP status, and a quota that is back within minutes is no usage window.
"""

import re
from datetime import timedelta
from typing import Any

from msgspec import structs

from dos.agents import provider_errors, stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Settings,
    StreamState,
    Usage,
    Waiting,
)
from dos.agents.programs import catalog
from dos.agents.stream import as_mapping, as_text, nested

name = catalog.GEMINI.name
vendor = catalog.GEMINI.vendor
program = catalog.GEMINI.program
tested = catalog.GEMINI.tested

# --skip-trust takes effect after the settings are read, so that those of the repository (hooks,
# servers, commands, a switch for all hooks) and its `.env` are not. Hooks of extensions still run.
_ARGUMENTS = ("--output-format", "stream-json", "--yolo", "--skip-trust")
_RETRY = re.compile(r"^Attempt \d+ failed(?: with status (\d{3}))?\b.{0,80}?Retrying")
# A quota that is back sooner is no usage window: the program itself waits that long.
_SHORT_QUOTA = timedelta(minutes=5)
_NO_CREDIT = "INSUFFICIENT_G1_CREDITS_BALANCE"
_EXITS = {
    41: Ending.AUTH,
    42: Ending.LAUNCH_FAILED,  # bad input
    44: Ending.LAUNCH_FAILED,  # no sandbox
    52: Ending.LAUNCH_FAILED,  # bad settings
    53: Ending.TURN_CAP,
    55: Ending.PERMISSION,  # an untrusted folder
}
# It exits with the HTTP status that stopped it, modulo 256.
_STATUS_EXITS = {status % 256: status for status in (401, 403, 404, 429, 500, 503, 529)}


def launch(prompt: str, settings: Settings) -> Launch:
    """`gemini` with JSON output; the prompt is its standard input."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    """What Gemini has reported so far, with its newest retry, error and result."""

    retry: str = ""  # the line that tells what it waits for
    complaint: str = ""  # the message of its newest error record
    result: dict[str, Any] | None = None


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line.

    A retry is plain text. Any record after it shows that the program works again, and clears it.
    """
    state = stream.next_line(state, line)
    waiting = _retry(line)
    if waiting:
        return structs.replace(stream.with_waiting(state, waiting), retry=line)
    record = stream.parse_record(line)
    if not record:
        return state
    state = structs.replace(state, retry="")
    match record.get("type"):
        case "error":
            return structs.replace(state, complaint=as_text(record.get("message")))
        case "result":
            return stream.set_usage(structs.replace(state, result=record), _usage(record))
    return _on_progress(structs.replace(state, waiting=None), record)


def _on_progress(state: State, record: dict[str, Any]) -> State:
    """The state after a record that shows that the agent works."""
    match record.get("type"):
        case "init":
            return structs.replace(
                state,
                began=True,
                session=as_text(record.get("session_id")),
                model=as_text(record.get("model")),
            )
        case "message" if record.get("role") == "assistant":
            content = as_text(record.get("content"))
            claim = content
            if record.get("delta"):
                claim = state.claim + content
            return structs.replace(state, claim=claim, heard=stream.activity(content))
        case "tool_use":
            parameters = as_mapping(record.get("parameters"))
            subject = as_text(parameters.get("command")) or as_text(parameters.get("file_path"))
            heard = stream.activity(as_text(record.get("tool_name")), subject)
            # The claim is what it says after the last tool.
            return structs.replace(state, claim="", heard=heard)
        case "tool_result":
            output = as_text(record.get("output")) or as_text(nested(record, "error", "message"))
            failed = record.get("status") == "error"
            return structs.replace(state, heard=(stream.tool_result(output, failed=failed),))
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its result; without one, by its exit code and what it waited for."""
    pending = None
    waiting = _retry(state.retry)
    if waiting:
        judged = provider_errors.classify_failure(
            state.retry, clocks.ended_at, otherwise=waiting.ending
        )
        pending = _without_short_quota(judged, clocks)
    if state.result is not None:
        final: AgentOutcome | None = _judge(state.result, exit_code, clocks)
    else:
        final = _judge_exit(exit_code, state.complaint, pending, clocks)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _judge_exit(
    exit_code: int | None, complaint: str, pending: AgentOutcome | None, clocks: Clocks
) -> AgentOutcome | None:
    """The outcome of a program that ended without a result.

    What it last waited for tells more than a status in the exit code.
    """
    now = clocks.ended_at
    if exit_code in _EXITS and not clocks.hung:
        return AgentOutcome(ending=_EXITS[exit_code], found=stream.evidence("exit", exit_code))
    if exit_code in _STATUS_EXITS and not clocks.hung and not pending:
        status = _STATUS_EXITS[exit_code]
        judged = provider_errors.classify_failure(complaint, now, status=status)
        return _without_short_quota(judged, clocks)
    if complaint and exit_code:
        return provider_errors.classify_failure(complaint, now)
    return None


def _judge(result: dict[str, Any], exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """The outcome of a result; the exit code helps where the error is not recognised."""
    if result.get("status") == "success":
        return AgentOutcome(ending=Ending.OK, found=stream.evidence("status", "success"))
    message = as_text(nested(result, "error", "message"))
    now = clocks.ended_at
    kinds = [as_text(nested(result, "error", "type"))]
    if _NO_CREDIT in message:
        # Every exhausted quota has the same type, also one that only money brings back.
        kinds.insert(0, _NO_CREDIT)
    judged = provider_errors.classify_failure(message, now, kinds=kinds)
    if judged.ending is Ending.UNKNOWN and exit_code in _STATUS_EXITS:
        status = _STATUS_EXITS[exit_code]
        judged = provider_errors.classify_failure(message, now, status=status)
    return _without_short_quota(judged, clocks)


def _without_short_quota(judged: AgentOutcome, clocks: Clocks) -> AgentOutcome:
    """The outcome, with a quota that is back within minutes as a transient failure."""
    if judged.ending is not Ending.USAGE_WINDOW or not judged.resets_at:
        return judged
    wait = judged.resets_at - clocks.ended_at
    if wait > _SHORT_QUOTA:
        return judged
    seconds = max(0.0, wait.total_seconds())
    return structs.replace(
        judged, ending=Ending.TRANSIENT, resets_at=None, retry_after_seconds=seconds
    )


def _retry(line: str) -> Waiting | None:
    """What a retry line waits for; None for any other line."""
    match = _RETRY.match(line)
    if match is None:
        return None
    status = None
    if match[1]:
        status = int(match[1])
    return provider_errors.classify_retry(line, status=status)


def _usage(record: dict[str, Any]) -> list[Usage]:
    """The usage by model. Input includes cached tokens; thinking is only in the total."""
    usages = []
    for model, stats in as_mapping(nested(record, "stats", "models")).items():
        counts = {key: stream.as_count(value) for key, value in as_mapping(stats).items()}
        all_input = counts.get("input_tokens", 0)
        cached = counts.get("cached", 0)
        usages.append(
            Usage(
                model=model,
                input_tokens=max(0, all_input - cached),
                cached_tokens=cached,
                output_tokens=max(
                    counts.get("output_tokens", 0), counts.get("total_tokens", 0) - all_input
                ),
            )
        )
    return usages
