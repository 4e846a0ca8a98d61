"""Our own agent, which does what a script says: for the demonstration, for tests, for trying a configuration."""

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

_END_WORDS = {
    "limit": Ending.USAGE_WINDOW,
    "overloaded": Ending.OVERLOADED,
}  # beside `ending`, which names one


def launch(prompt: str, settings: Settings) -> Launch:
    start = [sys.executable, "-P", "-m", "dos.testing.scripted_agent"]
    return Launch(argv=[*start, *settings.command, *settings.arguments], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    stuck: Waiting | None = None  # what it would end with
    ends: tuple[dict[str, Any], ...] = ()  # its words for how it ends


def begin() -> State:
    return State(began=True)


def on_line(state: State, line: str) -> State:
    state = stream.next_line(state, line)
    if not (said := stream.parse_record(line)):
        return state
    state = structs.replace(state, stuck=None)
    match said.get("type"):
        case "limit" | "overloaded" | "ending":
            return structs.replace(state, ends=(*state.ends, said))
        case "waiting":
            return structs.replace(stream.with_waiting(state, _waiting(said)), stuck=_waiting(said))
    state = structs.replace(state, waiting=None)
    match said.get("type"):
        case "say":
            words = stream.as_text(said.get("text"))
            return structs.replace(state, claim=words, heard=stream.activity(words))
        case "write" | "commit" as kind:
            heard = stream.activity(
                kind, stream.as_text(said.get("path")), stream.as_text(said.get("subject"))
            )
            return structs.replace(state, heard=heard)
        case "usage":
            return stream.add_usage(state, _usage(said))
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    final = None
    for said in state.ends:
        ending = _END_WORDS.get(stream.as_text(said.get("type")), _ending(said))
        counts = (
            exit_code == 0
            if ending is Ending.OK
            else exit_code != 0 or said.get("type") == "ending"
        )
        if counts:
            final = _limit(said, ending, clocks)
    pending = stream.outcome_of_waiting(state.stuck) if state.stuck else None
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _limit(said: dict[str, Any], ending: Ending, clocks: Clocks) -> AgentOutcome:
    scope = Scope.MODEL if said.get("scope") == Scope.MODEL else Scope.ACCOUNT
    outcome = AgentOutcome(
        ending=ending,
        found=stream.evidence("type", said.get("type")),
        scope=scope,
        window=stream.as_text(said.get("window")),
    )
    seconds = stream.as_number(said.get("retry_after"))
    outcome = reset_times.with_reset_time(
        outcome, reset_times.moment_after(seconds, clocks.ended_at), clocks.ended_at
    )
    return structs.replace(
        outcome, resets_at=_moment(said.get("resets_at"), clocks.ended_at) or outcome.resets_at
    )


def _moment(value: object, now: datetime) -> datetime | None:
    if (seconds := stream.as_number(value)) is not None:
        return reset_times.moment_of_epoch(seconds, now)
    try:
        found = datetime.fromisoformat(stream.as_text(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)


def _waiting(said: dict[str, Any]) -> Waiting:
    seconds = stream.as_amount(said.get("seconds"))
    return Waiting(
        ending=_ending(said, Ending.OVERLOADED),
        seconds=seconds,
        text=stream.as_text(said.get("text")),
    )


def _ending(said: dict[str, Any], otherwise: Ending = Ending.UNKNOWN) -> Ending:
    try:
        return Ending(stream.as_text(said.get("ending")))
    except ValueError:
        return otherwise


def _usage(said: dict[str, Any]) -> Usage:
    return Usage(
        model=stream.as_text(said.get("model")),
        input_tokens=stream.as_count(said.get("input_tokens")),
        cached_tokens=stream.as_count(said.get("cached_tokens")),
        cache_write_tokens=stream.as_count(said.get("cache_write_tokens")),
        output_tokens=stream.as_count(said.get("output_tokens")),
        cost_usd=stream.as_amount(said.get("cost_usd")),
    )
