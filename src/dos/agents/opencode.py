"""opencode: JSON lines and no last word; when its provider has no room it is silent, and only its log tells."""

import re
from typing import Any

from msgspec import structs

from dos.agents import provider_errors, reset_times, stream
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

name = "opencode"
vendor = "opencode"
program = "opencode"
tested = ("1.18", "1.18")

# --auto: what the user's own settings deny stays denied, and nothing is asked of nobody.
_ARGUMENTS = ("run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto")
_LOGGED = re.compile(
    r'^timestamp=\S+ level=ERROR (?!.*\bsmall=true\b).*?\bmessage="?(stream error|process|failed)\b'
)
_REASON = re.compile(r'\berror(?:\.error)?="((?:[^"\\]|\\.)*)"')
_REJECTED = "permission requested:"


def launch(prompt: str, settings: Settings) -> Launch:
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.directory:  # it does not ask the system where it is: it believes PWD
        argv += ["--dir", settings.directory]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    stuck: str | None = None  # told of an error after which it tries again
    logged: str = ""
    denied: str = ""
    error: dict[str, Any] | None = None


def begin() -> State:
    return State()


def on_line(state: State, line: str) -> State:
    state = stream.next_line(state, line)
    if logged := _logged(line):
        state = structs.replace(state, logged=logged[1])
        waiting = _retry(line)
        return (
            structs.replace(stream.with_waiting(state, waiting), stuck=logged[1])
            if waiting
            else state
        )
    said = stream.parse_record(line)
    if not said:
        return structs.replace(state, denied=line.strip()) if _REJECTED in line else state
    session = as_text(said.get("sessionID")) or state.session
    state = structs.replace(state, began=True, stuck=None, session=session)
    if said.get("type") == "error":
        return structs.replace(state, error=as_mapping(said.get("error")))
    return _on_part(structs.replace(state, waiting=None), said)


def _on_part(state: State, said: dict[str, Any]) -> State:
    match said.get("type"):
        case "step_start":  # a tool is only told of when it is done
            return structs.replace(
                state, error=None, logged="", denied="", heard=stream.activity("thinking")
            )
        case "text":
            words = as_text(nested(said, "part", "text"))
            return structs.replace(state, claim=words, heard=stream.activity(words))
        case "tool_use":
            given = as_mapping(nested(said, "part", "state", "input"))
            about = as_text(given.get("command")) or as_text(given.get("filePath"))
            return structs.replace(
                state, heard=stream.activity(as_text(nested(said, "part", "tool")), about)
            )
        case "step_finish":
            return stream.add_usage(state, _usage(said))
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    final = _judge(state.error, clocks) if state.error is not None else None
    if final and final.ending is Ending.UNKNOWN and state.logged:
        final = provider_errors.classify_failure(state.logged, clocks.ended_at)
    elif state.denied and not final and exit_code == 0:
        final = AgentOutcome(ending=Ending.PERMISSION, found=stream.evidence("text", state.denied))
    pending = None
    if state.stuck is not None:
        pending = provider_errors.classify_failure(
            state.stuck, clocks.ended_at, otherwise=Ending.TRANSIENT
        )
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _judge(error: dict[str, Any], clocks: Clocks) -> AgentOutcome:
    data, now = as_mapping(error.get("data")), clocks.ended_at
    status = stream.as_number(data.get("statusCode"))
    judged = provider_errors.classify_failure(
        as_text(data.get("message")),
        now,
        status=int(status) if status is not None else None,
        kinds=[as_text(error.get("name"))],
    )
    headers = as_mapping(data.get("responseHeaders"))
    try:
        seconds = float(as_text(headers.get("retry-after")))
    except ValueError:
        return judged
    return (
        judged
        if judged.resets_at
        else reset_times.with_reset_time(judged, reset_times.moment_after(seconds, now), now)
    )


def _logged(line: str) -> tuple[str, str] | None:
    """What kind of an error its log tells, and what was said: behind the name of its class, which tells nothing."""
    kind, reason = _LOGGED.match(line), _REASON.search(line)
    return (kind[1], reason[1].removeprefix("AI_APICallError: ")) if kind and reason else None


def _retry(line: str) -> Waiting | None:
    logged = _logged(line)
    return (
        provider_errors.classify_retry(logged[1])
        if logged and logged[0] == "stream error"
        else None
    )


def _usage(said: dict[str, Any]) -> Usage:
    """Of one step. Without a price for the model it tells a cost of 0, which is none."""
    tokens = as_mapping(nested(said, "part", "tokens"))
    fresh, cached = (
        stream.as_count(tokens.get("input")),
        stream.as_count(nested(tokens, "cache", "read")),
    )
    written = stream.as_count(nested(tokens, "cache", "write"))
    spoken = stream.as_count(tokens.get("output"))
    rest = stream.as_count(tokens.get("total")) - fresh - cached - written
    return Usage(
        input_tokens=fresh,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=max(
            spoken, rest if "total" in tokens else spoken + stream.as_count(tokens.get("reasoning"))
        ),
        cost_usd=stream.as_amount(nested(said, "part", "cost")) or None,
    )
