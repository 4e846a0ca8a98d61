"""The stop hooks of agent programs: how to read their event, and how to refuse the stop.

Each program has its own names for the same facts, and its own way to be told to continue.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

_MOMENTS = ("Stop", "SubagentStop", "AfterAgent", "stop")
_LAST_MESSAGES = ("last_assistant_message", "prompt_response", "finalModelOutput")
_ENDED_EARLY = ("aborted", "error")  # the agent was cut off and claims nothing


class StopEvent(Struct, frozen=True, kw_only=True):
    """An agent is about to stop. What a program does not send has its default."""

    session: str = ""
    cwd: str = ""
    transcript: str = ""
    last_message: str | None = None  # None: the program does not send it
    already_continued: bool = False  # its stop was refused once before
    is_stop: bool = True


def parse(event: Mapping[str, Any]) -> StopEvent:
    """Return the event of any program: no key has two meanings among them."""
    messages = (event[key] for key in _LAST_MESSAGES if isinstance(event.get(key), str))
    is_stop = event.get("hook_event_name", "Stop") in _MOMENTS
    was_continued = event.get("stop_hook_active") is True
    return StopEvent(
        session=_text(event, "session_id", "conversation_id", "conversationId"),
        cwd=_text(event, "cwd") or _first_root(event),
        transcript=_text(event, "transcript_path", "transcriptPath"),
        last_message=next(messages, None),
        already_continued=was_continued or _counts(event, "loop_count", "executionNum"),
        is_stop=is_stop and event.get("status") not in _ENDED_EARLY,
    )


def _first_root(event: Mapping[str, Any]) -> str:
    """Return the first workspace folder that the event names, or an empty text."""
    for key in ("workspacePaths", "workspace_roots"):
        roots = event.get(key)
        if not isinstance(roots, list):
            continue
        for root in roots:
            if isinstance(root, str):
                return root
    return ""


def _text(event: Mapping[str, Any], *keys: str) -> str:
    """Return the first of the keys that holds a text, or an empty text."""
    for key in keys:
        value = event.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _counts(event: Mapping[str, Any], *keys: str) -> bool:
    """Whether one of the keys holds a number above 0."""
    return any(isinstance(event.get(key), int) and event[key] > 0 for key in keys)


def _block(reason: str) -> dict[str, str]:
    """The refusal of Claude Code and of programs that copied its hooks."""
    return {"decision": "block", "reason": reason}


def _follow_up(reason: str) -> dict[str, str]:
    """The refusal of Cursor: a message that the agent gets as its next task."""
    return {"followup_message": reason}


def _continue(reason: str) -> dict[str, str]:
    """The refusal of Antigravity."""
    return {"decision": "continue", "reason": reason}


# How each program is told to continue instead of stopping.
REFUSALS: dict[str, Callable[[str], dict[str, str]]] = {
    "claude-code": _block,
    "codex": _block,  # its schema accepts nothing else
    "gemini": _block,
    "cursor": _follow_up,
    "antigravity": _continue,
    "hermes": _block,
    "opencode": _block,
}
