"""Our own agent, which does what a script says: for the demonstration, for tests, for trying a configuration."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import structs

from dos.agents import moments, reading
from dos.agents.adapter import Clocks, Heard, Launch, Settings, Waiting
from dos.agents.reading import Told
from dos.records.endings import Ending, Outcome, Scope, Usage

name = "scripted"
vendor = "scripted"
program = ""
tested: tuple[str, str] = ("", "")


def launch(prompt: str, settings: Settings) -> Launch:
    start = [sys.executable, "-P", "-m", "dos.testing.scripted_agent"]
    return Launch(argv=[*start, *settings.command, *settings.arguments], stdin=prompt)


def parse(line: str) -> tuple[Heard, ...]:
    said = reading.record(line)
    match said.get("type"):
        case "say":
            return reading.activity(reading.text(said.get("text")))
        case "write" | "commit" as kind:
            return reading.activity(kind, reading.text(said.get("path")), reading.text(said.get("subject")))
        case "usage":
            return reading.used(_usage(said))
        case "waiting":
            return (_waiting(said),)
    return ()


def outcome(lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
    told = Told(began=True)
    for said in reading.records(lines):
        told.pending = None
        match said.get("type"):
            case "say":
                told.claim = reading.text(said.get("text"))
            case "usage":
                told.use(_usage(said))
            case "waiting":
                told.pending = reading.by_waiting(_waiting(said))
            case "limit" if exit_code != 0:
                told.final = _limit(said, Ending.USAGE_WINDOW, clocks)
            case "overloaded" if exit_code != 0:
                told.final = _limit(said, Ending.OVERLOADED, clocks)
            case "ending" if _ending(said) is not Ending.OK or exit_code == 0:
                told.final = _limit(said, _ending(said), clocks)
    return reading.concluded(told, exit_code, clocks)


def _limit(said: dict[str, Any], ending: Ending, clocks: Clocks) -> Outcome:
    scope = Scope.MODEL if said.get("scope") == Scope.MODEL else Scope.ACCOUNT
    outcome = Outcome(
        ending=ending,
        found=reading.found("type", said.get("type")),
        scope=scope,
        window=reading.text(said.get("window")),
    )
    seconds = reading.number(said.get("retry_after"))
    outcome = moments.at(outcome, moments.after(seconds, clocks.ended_at), clocks.ended_at)
    return structs.replace(outcome, resets_at=_moment(said.get("resets_at"), clocks.ended_at) or outcome.resets_at)


def _moment(value: object, now: datetime) -> datetime | None:
    if (seconds := reading.number(value)) is not None:
        return moments.epoch(seconds, now)
    try:
        found = datetime.fromisoformat(reading.text(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)


def _waiting(said: dict[str, Any]) -> Waiting:
    seconds = reading.amount(said.get("seconds"))
    return Waiting(ending=_ending(said, Ending.OVERLOADED), seconds=seconds, text=reading.text(said.get("text")))


def _ending(said: dict[str, Any], otherwise: Ending = Ending.UNKNOWN) -> Ending:
    try:
        return Ending(reading.text(said.get("ending")))
    except ValueError:
        return otherwise


def _usage(said: dict[str, Any]) -> Usage:
    return Usage(
        model=reading.text(said.get("model")),
        input_tokens=reading.count(said.get("input_tokens")),
        cached_tokens=reading.count(said.get("cached_tokens")),
        cache_write_tokens=reading.count(said.get("cache_write_tokens")),
        output_tokens=reading.count(said.get("output_tokens")),
        cost_usd=reading.amount(said.get("cost_usd")),
    )
