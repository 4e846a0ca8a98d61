"""opencode: JSON lines and no last word; when its provider has no room it is silent, and only its log tells."""

import re
from collections.abc import Sequence
from typing import Any

from dos.agents import failures, moments, reading
from dos.agents.adapter import Clocks, Heard, Launch, Settings, Waiting
from dos.agents.reading import Told, mapping, text, within
from dos.records.endings import Ending, Outcome, Usage

name = "opencode"
vendor = "opencode"
program = "opencode"
tested = ("1.18", "1.18")

# --auto: what the user's own settings deny stays denied, and nothing is asked of nobody.
_ARGUMENTS = ("run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto")
_LOGGED = re.compile(r'^timestamp=\S+ level=ERROR (?!.*\bsmall=true\b).*?\bmessage="?(stream error|process|failed)\b')
_REASON = re.compile(r'\berror(?:\.error)?="((?:[^"\\]|\\.)*)"')
_REJECTED = "permission requested:"


def launch(prompt: str, settings: Settings) -> Launch:
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.directory:  # it does not ask the system where it is: it believes PWD
        argv += ["--dir", settings.directory]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments], stdin=prompt)


def parse(line: str) -> tuple[Heard, ...]:
    if waiting := _retry(line):
        return (waiting,)
    said = reading.record(line)
    match said.get("type"):
        case "step_start":
            return reading.activity("thinking")  # a tool is only told of when it is done
        case "text":
            return reading.activity(text(within(said, "part", "text")))
        case "tool_use":
            given = mapping(within(said, "part", "state", "input"))
            about = text(given.get("command")) or text(given.get("filePath"))
            return reading.activity(text(within(said, "part", "tool")), about)
        case "step_finish":
            return reading.used(_usage(said))
    return ()


def outcome(lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
    told = Told()
    logged = denied = ""
    for line in lines:
        if reason := _logged(line):
            logged = reason[1]
            if reason[0] == "stream error":
                told.pending = failures.judge(logged, clocks.ended_at, otherwise=Ending.TRANSIENT)
        elif _REJECTED in line and not reading.record(line):
            denied = line.strip()
        elif said := reading.record(line):
            told.began, told.pending = True, None
            told.session = text(said.get("sessionID")) or told.session
            match said.get("type"):
                case "step_start":
                    told.final, logged, denied = None, "", ""
                case "text":
                    told.claim = text(within(said, "part", "text"))
                case "step_finish":
                    told.use(_usage(said))
                case "error":
                    told.final = _judge(mapping(said.get("error")), clocks)
    if told.final and told.final.ending is Ending.UNKNOWN and logged:
        told.final = failures.judge(logged, clocks.ended_at)
    elif denied and not told.final and exit_code == 0:
        told.final = Outcome(ending=Ending.PERMISSION, found=reading.found("text", denied))
    return reading.concluded(told, exit_code, clocks, lines)


def _judge(error: dict[str, Any], clocks: Clocks) -> Outcome:
    data, now = mapping(error.get("data")), clocks.ended_at
    status = reading.number(data.get("statusCode"))
    judged = failures.judge(
        text(data.get("message")),
        now,
        status=int(status) if status is not None else None,
        kinds=[text(error.get("name"))],
    )
    headers = mapping(data.get("responseHeaders"))
    try:
        seconds = float(text(headers.get("retry-after")))
    except ValueError:
        return judged
    return judged if judged.resets_at else moments.at(judged, moments.after(seconds, now), now)


def _logged(line: str) -> tuple[str, str] | None:
    """What kind of an error its log tells, and what was said: behind the name of its class, which tells nothing."""
    kind, reason = _LOGGED.match(line), _REASON.search(line)
    return (kind[1], reason[1].removeprefix("AI_APICallError: ")) if kind and reason else None


def _retry(line: str) -> Waiting | None:
    logged = _logged(line)
    return failures.waiting(logged[1]) if logged and logged[0] == "stream error" else None


def _usage(said: dict[str, Any]) -> Usage:
    """Of one step. Without a price for the model it tells a cost of 0, which is none."""
    tokens = mapping(within(said, "part", "tokens"))
    fresh, cached = reading.count(tokens.get("input")), reading.count(within(tokens, "cache", "read"))
    written = reading.count(within(tokens, "cache", "write"))
    spoken = reading.count(tokens.get("output"))
    rest = reading.count(tokens.get("total")) - fresh - cached - written
    return Usage(
        input_tokens=fresh,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=max(spoken, rest if "total" in tokens else spoken + reading.count(tokens.get("reasoning"))),
        cost_usd=reading.amount(within(said, "part", "cost")) or None,
    )
