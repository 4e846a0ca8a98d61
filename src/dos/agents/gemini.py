"""Gemini CLI: JSON lines, and its retries as plain text among them, from its standard error."""

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
from dos.agents.stream import as_mapping, as_text, nested

name = "gemini"
vendor = "google"
program = "gemini"
tested = ("0.61", "0.61")

_ARGUMENTS = ("--output-format", "stream-json", "--yolo")
# Not --skip-trust: that comes after the settings were read, and silently turns the hooks of the project off.
_ENVIRONMENT = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
_RETRY = re.compile(r"^Attempt \d+ failed(?: with status (\d{3}))?\b.{0,80}?Retrying")
_SHORT_QUOTA = timedelta(
    minutes=5
)  # what is back sooner is no window: the program itself waits that long
_NO_CREDIT = "INSUFFICIENT_G1_CREDITS_BALANCE"
_EXITS = {
    41: Ending.AUTH,
    42: Ending.LAUNCH_FAILED,  # bad input
    44: Ending.LAUNCH_FAILED,  # no sandbox
    52: Ending.LAUNCH_FAILED,  # bad settings
    53: Ending.TURN_CAP,
    55: Ending.PERMISSION,  # an untrusted folder
}
# An answer's status that it could do nothing about is what it exits with, as far as that fits.
_PASSED_ON = {status % 256: status for status in (401, 403, 404, 429, 500, 503, 529)}


def launch(prompt: str, settings: Settings) -> Launch:
    model = ("--model", settings.model) if settings.model else ()
    argv = [*(settings.command or (program,)), *_ARGUMENTS, *model, *settings.arguments]
    return Launch(argv=argv, stdin=prompt, environment=_ENVIRONMENT)


class State(StreamState, frozen=True, kw_only=True):
    retry: str = ""  # the line that tells what it waits for
    complaint: str = ""
    result: dict[str, Any] | None = None


def begin() -> State:
    return State()


def on_line(state: State, line: str) -> State:
    state = stream.next_line(state, line)
    if waiting := _retry(line):
        return structs.replace(stream.with_waiting(state, waiting), retry=line)
    if not (said := stream.parse_record(line)):
        return state
    state = structs.replace(state, retry="")
    match said.get("type"):
        case "error":
            return structs.replace(state, complaint=as_text(said.get("message")))
        case "result":
            return stream.set_usage(structs.replace(state, result=said), _usage(said))
    state = structs.replace(state, waiting=None)
    match said.get("type"):
        case "init":
            session, model = as_text(said.get("session_id")), as_text(said.get("model"))
            return structs.replace(state, began=True, session=session, model=model)
        case "message" if said.get("role") == "assistant":
            piece = as_text(said.get("content"))
            claim = state.claim + piece if said.get("delta") else piece
            return structs.replace(state, claim=claim, heard=stream.activity(piece))
        case "tool_use":
            given = as_mapping(said.get("parameters"))
            about = as_text(given.get("command")) or as_text(given.get("file_path"))
            heard = stream.activity(as_text(said.get("tool_name")), about)
            return structs.replace(
                state, claim="", heard=heard
            )  # what is said after the last tool is the claim
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    pending = None
    if waiting := _retry(state.retry):
        pending = _bounded(
            provider_errors.classify_failure(
                state.retry, clocks.ended_at, otherwise=waiting.ending
            ),
            clocks,
        )
    if state.result is not None:
        final: AgentOutcome | None = _judge(state.result, exit_code, clocks)
    else:
        final = _by_exit(exit_code, state.complaint, pending, clocks)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _by_exit(
    exit_code: int | None, complaint: str, pending: AgentOutcome | None, clocks: Clocks
) -> AgentOutcome | None:
    """Of one that ended without a result. What it last waited for says more than a status that it passed on."""
    if exit_code in _EXITS and not clocks.hung:
        return AgentOutcome(ending=_EXITS[exit_code], found=stream.evidence("exit", exit_code))
    if exit_code in _PASSED_ON and not clocks.hung and not pending:
        return _bounded(
            provider_errors.classify_failure(
                complaint, clocks.ended_at, status=_PASSED_ON[exit_code]
            ),
            clocks,
        )
    return (
        provider_errors.classify_failure(complaint, clocks.ended_at)
        if complaint and exit_code
        else None
    )


def _judge(said: dict[str, Any], exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    if said.get("status") == "success":
        return AgentOutcome(ending=Ending.OK, found=stream.evidence("status", "success"))
    words, now = as_text(nested(said, "error", "message")), clocks.ended_at
    # Every quota that is used up has the same type, also one that only money brings back.
    kinds = [*([_NO_CREDIT] if _NO_CREDIT in words else []), as_text(nested(said, "error", "type"))]
    judged = provider_errors.classify_failure(words, now, kinds=kinds)
    if judged.ending is Ending.UNKNOWN and exit_code in _PASSED_ON:
        judged = provider_errors.classify_failure(words, now, status=_PASSED_ON[exit_code])
    return _bounded(judged, clocks)


def _bounded(judged: AgentOutcome, clocks: Clocks) -> AgentOutcome:
    now = clocks.ended_at
    if (
        judged.ending is Ending.USAGE_WINDOW
        and judged.resets_at
        and judged.resets_at - now <= _SHORT_QUOTA
    ):
        seconds = max(0.0, (judged.resets_at - now).total_seconds())
        return structs.replace(
            judged, ending=Ending.TRANSIENT, resets_at=None, retry_after_seconds=seconds
        )
    return judged


def _retry(line: str) -> Waiting | None:
    told = _RETRY.match(line)
    return (
        provider_errors.classify_retry(line, status=int(told[1]) if told[1] else None)
        if told
        else None
    )


def _usage(said: dict[str, Any]) -> list[Usage]:
    """Its input holds what was cached; what it thought is only in the total."""
    found = []
    for model, told in as_mapping(nested(said, "stats", "models")).items():
        counted = {key: stream.as_count(value) for key, value in as_mapping(told).items()}
        whole, cached = counted.get("input_tokens", 0), counted.get("cached", 0)
        output = max(counted.get("output_tokens", 0), counted.get("total_tokens", 0) - whole)
        found.append(
            Usage(
                model=model,
                input_tokens=max(0, whole - cached),
                cached_tokens=cached,
                output_tokens=output,
            )
        )
    return found
