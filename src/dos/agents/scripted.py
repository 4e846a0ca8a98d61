"""The scripted agent, which does what a script tells it: for the demo, tests and trials."""

import sys
from datetime import datetime
from typing import Any

from msgspec import structs

from dos.agents import reset_times, stream
from dos.agents.adapter import (
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

name = "scripted"
vendor = "scripted"
program = ""
tested: tuple[str, str] = ("", "")

# Records that name their ending by their type; `ending` records have it as a field.
_END_TYPES = {
    "limit": Ending.USAGE_WINDOW,
    "overloaded": Ending.OVERLOADED,
}


def launch(prompt: str, settings: Settings) -> Launch:
    """This Python, running the script that the command names."""
    start = [sys.executable, "-P", "-m", "dos.testing.scripted_agent"]
    return Launch(argv=[*start, *settings.command, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    """What the script has reported so far."""

    stuck: Waiting | None = None  # what it would end with
    ends: tuple[dict[str, Any], ...] = ()  # the records that tell how it ends


def begin() -> State:
    """The state of a script that has printed nothing."""
    return State(began=True)


def on_line(state: State, line: str) -> State:
    """The state after one more line."""
    state = stream.next_line(state, line)
    record = stream.parse_record(line)
    if not record:
        return state
    state = structs.replace(state, stuck=None)
    match record.get("type"):
        case "limit" | "overloaded" | "ending":
            return structs.replace(state, ends=(*state.ends, record))
        case "waiting":
            waiting = _waiting(record)
            return structs.replace(stream.with_waiting(state, waiting), stuck=waiting)
    return _on_progress(structs.replace(state, waiting=None), record)


def _on_progress(state: State, record: dict[str, Any]) -> State:
    """The state after a record that shows that the script works."""
    match record.get("type"):
        case "say":
            text = stream.as_text(record.get("text"))
            return structs.replace(state, claim=text, heard=stream.activity(text))
        case "write" | "commit" as kind:
            path = stream.as_text(record.get("path"))
            subject = stream.as_text(record.get("subject"))
            return structs.replace(state, heard=stream.activity(kind, path, subject))
        case "run":
            result = stream.tool_result("", exit_code=record.get("exit_code"))
            command = stream.activity("run", stream.as_text(record.get("command")))
            return structs.replace(state, heard=(*command, result))
        case "usage":
            return stream.add_usage(state, _usage(record))
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by the last of its end records that fits the exit code."""
    final = None
    for record in state.ends:
        ending = _END_TYPES.get(stream.as_text(record.get("type")), _ending(record))
        if _fits(record, ending, exit_code):
            final = _limit(record, ending, clocks)
    pending = None
    if state.stuck:
        pending = stream.outcome_of_waiting(state.stuck)
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _fits(record: dict[str, Any], ending: Ending, exit_code: int | None) -> bool:
    """A failed script is never OK; a limit counts only when the script then failed."""
    if ending is Ending.OK:
        return exit_code == 0
    return exit_code != 0 or record.get("type") == "ending"


def _limit(record: dict[str, Any], ending: Ending, clocks: Clocks) -> AgentOutcome:
    """The outcome of an end record, with the times that it names."""
    now = clocks.ended_at
    scope = Scope.ACCOUNT
    if record.get("scope") == Scope.MODEL:
        scope = Scope.MODEL
    outcome = AgentOutcome(
        ending=ending,
        found=stream.evidence("type", record.get("type")),
        scope=scope,
        window=stream.as_text(record.get("window")),
    )
    seconds = stream.as_number(record.get("retry_after"))
    outcome = reset_times.with_reset_time(outcome, reset_times.moment_after(seconds, now), now)
    resets_at = _moment(record.get("resets_at"), now)
    return structs.replace(outcome, resets_at=resets_at or outcome.resets_at)


def _moment(value: object, now: datetime) -> datetime | None:
    """A time as seconds since 1970 or as ISO text; None where it is neither."""
    seconds = stream.as_number(value)
    if seconds is not None:
        return reset_times.moment_of_epoch(seconds, now)
    try:
        moment = datetime.fromisoformat(stream.as_text(value))
    except ValueError:
        return None
    if moment.tzinfo is None:
        return moment.replace(tzinfo=now.tzinfo)
    return moment


def _waiting(record: dict[str, Any]) -> Waiting:
    return Waiting(
        ending=_ending(record, Ending.OVERLOADED),
        seconds=stream.as_amount(record.get("seconds")),
        text=stream.as_text(record.get("text")),
    )


def _ending(record: dict[str, Any], otherwise: Ending = Ending.UNKNOWN) -> Ending:
    """The ending that a record names; `otherwise` for an unknown one."""
    try:
        return Ending(stream.as_text(record.get("ending")))
    except ValueError:
        return otherwise


def _usage(record: dict[str, Any]) -> Usage:
    return Usage(
        model=stream.as_text(record.get("model")),
        input_tokens=stream.as_count(record.get("input_tokens")),
        cached_tokens=stream.as_count(record.get("cached_tokens")),
        cache_write_tokens=stream.as_count(record.get("cache_write_tokens")),
        output_tokens=stream.as_count(record.get("output_tokens")),
        cost_usd=stream.as_amount(record.get("cost_usd")),
    )
