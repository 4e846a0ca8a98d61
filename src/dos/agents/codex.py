"""Codex: `codex exec --json`. It reports limits in words only, and only `turn.failed` is final.

An `error` record may still be recovered from, so it only counts when the program dies with it.
"""

from typing import Any

from msgspec import structs

from dos.agents import provider_errors, stream
from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    Heard,
    Launch,
    Settings,
    StreamState,
    Usage,
)
from dos.agents.programs import catalog
from dos.agents.stream import as_list, as_mapping, as_text, nested

name = catalog.CODEX.name
vendor = catalog.CODEX.vendor
program = catalog.CODEX.program
tested = catalog.CODEX.tested

# Its own sandbox denies `git commit` the repository's directory, which is outside the worktree.
_ARGUMENTS = (
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
)


def launch(prompt: str, settings: Settings) -> Launch:
    """`codex exec --json -`; the prompt is its standard input."""
    argv = [*(settings.command or (program,)), *_ARGUMENTS]
    if settings.model:
        argv += ["--model", settings.model]
    return Launch(argv=[*argv, *settings.arguments, "-"], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    """What Codex has reported so far."""

    trouble: str | None = None  # the error that it tries to recover from
    completed: bool = False
    failure: str | None = None  # why its turn failed


def begin() -> State:
    """The state of a program that has printed nothing."""
    return State()


def on_line(state: State, line: str) -> State:
    """The state after one more line.

    A new turn clears what failed in the last one: only the newest turn tells how it ends.
    """
    state = stream.next_line(state, line)
    record = stream.parse_record(line)
    match record.get("type"):
        case "thread.started":
            return structs.replace(state, began=True, session=as_text(record.get("thread_id")))
        case "error":  # also reported for what Codex tries again
            message = as_text(record.get("message"))
            waiting = provider_errors.classify_retry(message)
            return structs.replace(stream.with_waiting(state, waiting), trouble=message)
        case "item.started" | "item.updated" | "item.completed" as stage:
            return _on_item(state, stage, as_mapping(record.get("item")))
        case "turn.started":
            return structs.replace(state, trouble=None, waiting=None, completed=False, failure=None)
        case "turn.completed":
            state = structs.replace(state, trouble=None, waiting=None, completed=True, failure=None)
            return stream.set_usage(state, [_usage(record)])  # of the whole thread, not the turn
        case "turn.failed":
            failure = as_text(nested(record, "error", "message"))
            return structs.replace(state, completed=False, failure=failure)
    return state


def _on_item(state: State, stage: str, item: dict[str, Any]) -> State:
    """An item shows that the turn goes on; a message is its claim."""
    state = structs.replace(state, trouble=None, waiting=None, heard=item_activity(stage, item))
    if item.get("type") == "agent_message":
        return structs.replace(state, claim=as_text(item.get("text")))
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    """How it ended, by its last turn; without one, by the error it could not recover from."""
    final = None
    pending = None
    if state.failure is not None:
        final = provider_errors.classify_failure(state.failure, clocks.ended_at)
    elif state.completed:
        final = AgentOutcome(ending=Ending.OK, found=stream.evidence("type", "turn.completed"))
    if state.trouble is not None:
        pending = provider_errors.classify_failure(
            state.trouble, clocks.ended_at, otherwise=Ending.TRANSIENT
        )
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def item_activity(stage: str, item: dict[str, Any]) -> tuple[Heard, ...]:
    """What an item does; each kind is shown once, when it starts or when it ends."""
    match stage, item.get("type"):
        case "item.completed", "agent_message" | "reasoning":
            return stream.activity(as_text(item.get("text")))
        case "item.started", "command_execution":
            return stream.activity(as_text(item.get("command")))
        case "item.completed", "file_change":
            changes = [as_mapping(change) for change in as_list(item.get("changes"))]
            return stream.activity("edit", *(as_text(change.get("path")) for change in changes))
        case "item.completed", "command_execution":
            output = as_text(item.get("aggregated_output"))
            return (stream.tool_result(output, exit_code=item.get("exit_code")),)
        case "item.completed", "mcp_tool_call":
            failed = item.get("status") == "failed"
            return (stream.tool_result(as_text(nested(item, "error", "message")), failed=failed),)
        case "item.started", "mcp_tool_call" | "web_search" as kind:
            return stream.activity(kind, as_text(item.get("tool")), as_text(item.get("query")))
    return ()


def _usage(record: dict[str, Any]) -> Usage:
    used = as_mapping(record.get("usage"))
    return usage_of(
        total_input=used.get("input_tokens"),
        cached=used.get("cached_input_tokens"),
        written=used.get("cache_write_input_tokens"),
        output=used.get("output_tokens"),
    )


def usage_of(*, total_input: object, cached: object, written: object, output: object) -> Usage:
    """The usage by counts of Codex: it counts cached tokens as input too, so they are taken off."""
    from_cache = stream.as_count(cached)
    to_cache = stream.as_count(written)
    return Usage(
        input_tokens=max(0, stream.as_count(total_input) - from_cache - to_cache),
        cached_tokens=from_cache,
        cache_write_tokens=to_cache,
        output_tokens=stream.as_count(output),
    )
