"""The moment an agent wants to stop: what its program says then, and the bytes that let it go on instead."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

_MOMENTS = ("Stop", "SubagentStop", "AfterAgent", "stop")
_LAST_MESSAGES = ("last_assistant_message", "prompt_response", "finalModelOutput")
_ENDED_EARLY = ("aborted", "error")  # cut short: nothing was claimed


class StopEvent(Struct, frozen=True, kw_only=True):
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    last_message: str | None = None  # None: the program does not say it
    already_continued: bool = False  # it was refused once, and wants to stop again
    is_stop: bool = True


def parse(event: Mapping[str, Any]) -> StopEvent:
    """One event, in whichever program's words: they share no key with two meanings."""
    said = (event[key] for key in _LAST_MESSAGES if isinstance(event.get(key), str))
    roots = [
        root
        for key in ("workspacePaths", "workspace_roots")
        if isinstance(event.get(key), list)
        for root in event[key]
        if isinstance(root, str)
    ]
    return StopEvent(
        session=_text(event, "session_id", "conversation_id", "conversationId"),
        cwd=_text(event, "cwd") or next(iter(roots), ""),
        transcript=_text(event, "transcript_path", "transcriptPath"),
        last_message=next(said, None),
        already_continued=event.get("stop_hook_active") is True
        or _counts(event, "loop_count", "executionNum"),
        is_stop=event.get("hook_event_name", "Stop") in _MOMENTS
        and event.get("status") not in _ENDED_EARLY,
    )


def _text(event: Mapping[str, Any], *keys: str) -> str:
    return next((event[key] for key in keys if isinstance(event.get(key), str) and event[key]), "")


def _counts(event: Mapping[str, Any], *keys: str) -> bool:
    return any(isinstance(event.get(key), int) and event[key] > 0 for key in keys)


def _block(reason: str) -> dict[str, str]:
    return {"decision": "block", "reason": reason}


REFUSALS: dict[str, Callable[[str], dict[str, str]]] = {
    "claude-code": _block,
    "codex": _block,  # its schema takes nothing else
    "gemini": _block,
    "cursor": lambda reason: {"followup_message": reason},
    "antigravity": lambda reason: {"decision": "continue", "reason": reason},
    "hermes": _block,
    "opencode": _block,
}
