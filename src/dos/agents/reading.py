"""What the lines of every program have in common: JSON of which nothing may be taken for granted."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import DecodeError, Struct, json, structs

from dos.agents.adapter import Activity, Clocks, Used, Waiting, by_exit
from dos.records.endings import Ending, Found, Outcome, Usage

CLAIM_CHARACTERS = 2000
EVIDENCE_CHARACTERS = 500
ACTIVITY_CHARACTERS = 200
KILLED_EXITS = (129, 130, 137, 143)  # as a shell tells of SIGHUP, SIGINT, SIGKILL and SIGTERM
MOST_TOKENS = 10**15  # what a program counts beyond this is no count


def record(line: str) -> dict[str, Any]:
    """The JSON object on a line; empty where there is none."""
    if not line.lstrip().startswith("{"):
        return {}
    try:
        return mapping(json.decode(line))
    except (DecodeError, RecursionError):
        return {}


def records(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    return (found for line in lines if (found := record(line)))


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """A finite one; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MOST_TOKENS * 1000:
        return None
    return float(value) if math.isfinite(value) else None


def count(value: object) -> int:
    found = number(value)
    return int(found) if found is not None and 0 <= found <= MOST_TOKENS else 0


def amount(value: object) -> float | None:
    """Of money or of time: nothing below 0."""
    found = number(value)
    return found if found is not None and found >= 0 else None


def within(value: dict[str, Any], *keys: str) -> Any:
    """What lies below the keys; None where one of them is missing."""
    found: Any = value
    for key in keys:
        found = mapping(found).get(key)
    return found


def shortened(words: str, limit: int = CLAIM_CHARACTERS) -> str:
    """The beginning; the end of a long claim says no more than that."""
    return words.strip()[:limit]


def activity(*words: str) -> tuple[Activity, ...]:
    """One line for whoever watches; nothing where there are no words."""
    shown = " ".join(" ".join(words).split())
    return (Activity(text=shortened(shown, ACTIVITY_CHARACTERS)),) if shown else ()


def found(field: str, raw: object) -> Found:
    return Found(field=field, raw=shortened(str(raw), EVIDENCE_CHARACTERS))


class Told(Struct, kw_only=True):
    """What a program has told of itself so far, line by line."""

    began: bool = False  # it got as far as to speak for itself
    session: str = ""
    model: str = ""
    claim: str = ""
    pending: Outcome | None = None  # what it would end with: it waits for its provider
    final: Outcome | None = None  # its own last word
    usage: dict[str, Usage] = {}  # by model

    def use(self, usage: Usage) -> None:
        if usage != Usage(model=usage.model):
            self.usage[usage.model] = added(self.usage.get(usage.model), usage)


def added(one: Usage | None, other: Usage) -> Usage:
    if one is None:
        return other
    costs = [each for each in (one.cost_usd, other.cost_usd) if each is not None]
    return Usage(
        model=one.model,
        input_tokens=one.input_tokens + other.input_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=sum(costs) if costs else None,
    )


def concluded(told: Told, exit_code: int | None, clocks: Clocks, lines: Sequence[str] = ()) -> Outcome:
    """Our own hand first, then the program's last word, then what it waited for, then its exit code."""
    ending, signal = by_exit(exit_code, clocks), _signal(exit_code)
    outcome = Outcome(ending=ending, found=found("exit", exit_code), signal=signal)
    if clocks.stopped:
        pass
    elif told.final:
        outcome = told.final
    elif told.pending and ending in (Ending.HANG, Ending.CRASH):
        outcome = told.pending
    elif ending is Ending.BUDGET_CAP:
        outcome = Outcome(ending=ending, found=found("budget", clocks.overspent))
    elif ending is Ending.HANG:
        outcome = Outcome(ending=ending, found=found("clock", _clock(clocks)))
    elif ending is Ending.LAUNCH_FAILED and last_words(lines):
        outcome = Outcome(ending=ending, found=found("text", last_words(lines)))
    elif ending is Ending.CRASH and signal:
        outcome = structs.replace(outcome, ending=Ending.KILLED)
    elif ending is Ending.CRASH and not told.began:
        outcome = Outcome(ending=Ending.LAUNCH_FAILED, found=found("text", last_words(lines)))
    return structs.replace(
        outcome,
        claim=shortened(told.claim),
        session=told.session,
        model=told.model,
        usage=tuple(told.usage.values()),
    )


def last_words(lines: Sequence[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _clock(clocks: Clocks) -> str:
    return "silent" if clocks.silent else "overtime" if clocks.overtime else "idle"


def _signal(exit_code: int | None) -> int | None:
    """A shell, and a program that cleans up first, tell a signal by 128 and its number."""
    if exit_code is None or (exit_code >= 0 and exit_code not in KILLED_EXITS):
        return None
    return -exit_code if exit_code < 0 else exit_code - 128


def by_waiting(waiting: Waiting) -> Outcome:
    return Outcome(ending=waiting.ending, retry_after_seconds=waiting.seconds, found=found("waiting", waiting.text))


def used(usage: Usage, *, part: str = "", whole: bool = False) -> tuple[Used, ...]:
    return (Used(usage=usage, part=part, whole=whole),) if usage != Usage(model=usage.model) else ()
