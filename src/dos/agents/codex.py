"""Codex: `codex exec --json`. Its limits are told in words alone; only `turn.failed` is final."""

from typing import Any

from msgspec import structs

from dos.agents import provider_errors, stream
from dos.agents.adapter import (
    Activity,
    AgentOutcome,
    Clocks,
    Ending,
    Launch,
    Settings,
    StreamState,
    Usage,
)
from dos.agents.stream import as_list, as_mapping, as_text, nested

name = "codex"
vendor = "openai"
program = "codex"
tested = ("0.166", "0.166")

# Its own sandbox would keep `git commit` from the repository's directory, which lies outside of the worktree.
_ARGUMENTS = (
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
)


def launch(prompt: str, settings: Settings) -> Launch:
    model = ("--model", settings.model) if settings.model else ()
    argv = [*(settings.command or (program,)), *_ARGUMENTS, *model, *settings.arguments]
    return Launch(argv=[*argv, "-"], stdin=prompt)


class State(StreamState, frozen=True, kw_only=True):
    trouble: str | None = None  # told of an error that it tries to get over
    completed: bool = False
    failure: str | None = None  # why its turn failed


def begin() -> State:
    return State()


def on_line(state: State, line: str) -> State:
    state, said = stream.next_line(state, line), stream.parse_record(line)
    match said.get("type"):
        case "thread.started":
            return structs.replace(state, began=True, session=as_text(said.get("thread_id")))
        case "error":  # also told of what is tried again
            words = as_text(said.get("message"))
            return structs.replace(
                stream.with_waiting(state, provider_errors.classify_retry(words)), trouble=words
            )
        case "item.started" | "item.updated" | "item.completed" as stage:
            item = as_mapping(said.get("item"))
            is_message = item.get("type") == "agent_message"
            claim = as_text(item.get("text")) if is_message else state.claim
            heard = _activity(stage, item)
            return structs.replace(state, trouble=None, waiting=None, claim=claim, heard=heard)
        case "turn.started":
            return structs.replace(state, trouble=None, waiting=None, completed=False, failure=None)
        case "turn.completed":
            state = structs.replace(state, trouble=None, waiting=None, completed=True, failure=None)
            return stream.set_usage(state, [_usage(said)])  # the whole thread's, not the turn's
        case "turn.failed":
            return structs.replace(
                state, completed=False, failure=as_text(nested(said, "error", "message"))
            )
    return state


def outcome(state: State, exit_code: int | None, clocks: Clocks) -> AgentOutcome:
    final, pending = None, None
    if state.failure is not None:
        final = provider_errors.classify_failure(state.failure, clocks.ended_at)
    elif state.completed:
        final = AgentOutcome(ending=Ending.OK, found=stream.evidence("type", "turn.completed"))
    if state.trouble is not None:
        pending = provider_errors.classify_failure(
            state.trouble, clocks.ended_at, otherwise=Ending.TRANSIENT
        )
    return stream.conclude(state, exit_code, clocks, final=final, pending=pending)


def _activity(stage: str, item: dict[str, Any]) -> tuple[Activity, ...]:
    match stage, item.get("type"):
        case "item.completed", "agent_message" | "reasoning":
            return stream.activity(as_text(item.get("text")))
        case "item.started", "command_execution":
            return stream.activity(as_text(item.get("command")))
        case "item.completed", "file_change":
            changed = [
                as_text(as_mapping(change).get("path")) for change in as_list(item.get("changes"))
            ]
            return stream.activity("edit", *changed)
        case "item.started", "mcp_tool_call" | "web_search" as kind:
            return stream.activity(kind, as_text(item.get("tool")), as_text(item.get("query")))
    return ()


def _usage(said: dict[str, Any]) -> Usage:
    """It counts what was cached among the input."""
    used = as_mapping(said.get("usage"))
    cached = stream.as_count(used.get("cached_input_tokens"))
    written = stream.as_count(used.get("cache_write_input_tokens"))
    return Usage(
        input_tokens=max(0, stream.as_count(used.get("input_tokens")) - cached - written),
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=stream.as_count(used.get("output_tokens")),
    )
