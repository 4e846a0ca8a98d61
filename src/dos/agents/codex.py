"""Codex: `codex exec --json`. Its limits are told in words alone; only `turn.failed` is final."""

from collections.abc import Sequence
from typing import Any

from dos.agents import failures, reading
from dos.agents.adapter import Clocks, Heard, Launch, Settings
from dos.agents.reading import Told, mapping, sequence, text, within
from dos.records.endings import Ending, Outcome, Usage

name = "codex"
vendor = "openai"
program = "codex"
tested = ("0.166", "0.166")

# Its own sandbox would keep `git commit` from the repository's directory, which lies outside of the worktree.
_ARGUMENTS = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


def launch(prompt: str, settings: Settings) -> Launch:
    model = ("--model", settings.model) if settings.model else ()
    argv = [*(settings.command or (program,)), *_ARGUMENTS, *model, *settings.arguments]
    return Launch(argv=[*argv, "-"], stdin=prompt)


def parse(line: str) -> tuple[Heard, ...]:
    said = reading.record(line)
    match said.get("type"):
        case "item.started" | "item.completed":
            return _activity(text(said.get("type")), mapping(said.get("item")))
        case "error":
            return (failures.waiting(text(said.get("message"))),)
        case "turn.completed":
            return reading.used(_usage(said), whole=True)  # the thread's, not the turn's
    return ()


def outcome(lines: Sequence[str], exit_code: int | None, clocks: Clocks) -> Outcome:
    told = Told()
    for said in reading.records(lines):
        match said.get("type"):
            case "thread.started":
                told.began, told.session = True, text(said.get("thread_id"))
            case "error":  # also told of what is tried again
                told.pending = failures.judge(text(said.get("message")), clocks.ended_at, otherwise=Ending.TRANSIENT)
            case "item.started" | "item.updated" | "item.completed":
                told.pending = None
                if within(said, "item", "type") == "agent_message":
                    told.claim = text(within(said, "item", "text"))
            case "turn.started":
                told.pending = told.final = None
            case "turn.completed":
                told.pending = None
                told.final = Outcome(ending=Ending.OK, found=reading.found("type", "turn.completed"))
                told.usage = {"": _usage(said)}  # the whole thread's, not the turn's
            case "turn.failed":
                told.final = failures.judge(text(within(said, "error", "message")), clocks.ended_at)
    return reading.concluded(told, exit_code, clocks, lines)


def _activity(stage: str, item: dict[str, Any]) -> tuple[Heard, ...]:
    match stage, item.get("type"):
        case "item.completed", "agent_message" | "reasoning":
            return reading.activity(text(item.get("text")))
        case "item.started", "command_execution":
            return reading.activity(text(item.get("command")))
        case "item.completed", "file_change":
            changed = [text(mapping(change).get("path")) for change in sequence(item.get("changes"))]
            return reading.activity("edit", *changed)
        case "item.started", "mcp_tool_call" | "web_search" as kind:
            return reading.activity(kind, text(item.get("tool")), text(item.get("query")))
    return ()


def _usage(said: dict[str, Any]) -> Usage:
    """It counts what was cached among the input."""
    used = mapping(said.get("usage"))
    cached = reading.count(used.get("cached_input_tokens"))
    written = reading.count(used.get("cache_write_input_tokens"))
    return Usage(
        input_tokens=max(0, reading.count(used.get("input_tokens")) - cached - written),
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=reading.count(used.get("output_tokens")),
    )
