"""The dialects of agent programs: how to read the events of each, and how to answer it.

An answer in another program's dialect is silently ignored, so an unknown dialect is an error. The
dialects of Cursor and Antigravity follow their published schemas: neither was at hand to try it.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, json

from dos.agenthooks.events import NO_ARGUMENTS, Action, HookEvent, HookVerdict, Moment
from dos.agenthooks.replies import RENDERERS, as_denial
from dos.errors import BadInput
from dos.text import quote

DEFAULT = "claude-code"
DIALECTS = tuple(RENDERERS)

# By the names that the programs use; no name has two meanings among them.
_MOMENTS = {
    "PreToolUse": Moment.PRETOOL,
    "BeforeTool": Moment.PRETOOL,
    "preToolUse": Moment.PRETOOL,
    "beforeShellExecution": Moment.PRETOOL,
    "beforeMCPExecution": Moment.PRETOOL,
    "beforeReadFile": Moment.PRETOOL,
    "pre_tool_call": Moment.PRETOOL,
    "PostToolUse": Moment.POSTTOOL,
    "AfterTool": Moment.POSTTOOL,
    "postToolUse": Moment.POSTTOOL,
    "afterShellExecution": Moment.POSTTOOL,
    "afterMCPExecution": Moment.POSTTOOL,
    "afterFileEdit": Moment.POSTTOOL,
    "post_tool_call": Moment.POSTTOOL,
    "Stop": Moment.STOP,
    "SubagentStop": Moment.STOP,
    "AfterAgent": Moment.STOP,
    "stop": Moment.STOP,
    "SessionStart": Moment.SESSION,
    "sessionStart": Moment.SESSION,
}
# Cursor names the event, where others name a tool.
_TOOLS_BY_EVENT = {
    "beforeShellExecution": "Bash",
    "afterShellExecution": "Bash",
    "beforeReadFile": "Read",
    "afterFileEdit": "Edit",
}
# Where the programs that name it in the environment of their hooks were started. The folder of an
# event is where the agent is now: it can go anywhere.
PROJECT_VARIABLES = {
    "claude-code": "CLAUDE_PROJECT_DIR",
    "gemini": "GEMINI_PROJECT_DIR",
    "cursor": "CURSOR_PROJECT_DIR",
}
# Here Cursor takes no question to its user, and passes over an answer that it does not know.
_CANNOT_ASK = ("preToolUse",)
_RESULTS = ("tool_response", "tool_output", "output")
_LAST_MESSAGES = ("last_assistant_message", "prompt_response", "finalModelOutput")
_ENDED_EARLY = ("aborted", "error")
_WRITTEN_PATHS = ("TargetFile",)  # Antigravity's own name of what it writes


def check(name: str) -> None:
    """Raise BadInput for an unknown dialect."""
    if name not in RENDERERS:
        raise BadInput(
            f"unknown dialect {quote(name)}", hint=f"The dialects are {', '.join(RENDERERS)}."
        )


def parse(dialect: str, moment: str, event: Mapping[str, Any]) -> HookEvent:
    """Return the neutral form of an event that was sent to the hook of a moment.

    An event without a name counts as one of that moment; values of another type as absent. Raises
    BadInput for an unknown dialect.
    """
    check(dialect)
    arguments = _arguments(event)
    name = event.get("hook_event_name")
    tool = _text(event, "tool_name") or _text(_object(event.get("toolCall")), "name")
    if isinstance(name, str) and name in _TOOLS_BY_EVENT:
        tool = _TOOLS_BY_EVENT[name]
    result_key = next((key for key in _RESULTS if key in event), "")
    messages = (event[key] for key in _LAST_MESSAGES if isinstance(event.get(key), str))
    was_continued = event.get("stop_hook_active") is True
    roots = _texts(event, "workspace_roots") or _texts(event, "workspacePaths")
    return HookEvent(
        host=dialect,
        moment=_moment(moment, event),
        name=name if isinstance(name, str) else "",
        session=_text(event, "session_id", "conversation_id", "conversationId", "sessionID"),
        cwd=_text(event, "cwd") or _text(arguments, "Cwd") or "".join(roots[:1]),
        workspace_roots=roots,
        tool=tool,
        arguments=arguments,
        paths=tuple(path for key in _WRITTEN_PATHS if (path := _text(arguments, key))),
        result=event.get(result_key),
        has_result=bool(result_key),
        transcript=_text(event, "transcript_path", "transcriptPath"),
        last_message=next(messages, None),
        already_continued=was_continued or _counts(event, "loop_count", "executionNum"),
        was_cut_off=event.get("status") in _ENDED_EARLY,
    )


def render(dialect: str, moment: str, verdict: HookVerdict, *, name: str = "") -> bytes:
    """Return what to print for a verdict: one JSON object, or nothing.

    `name` is the program's own name of the event. Raises BadInput for an unknown dialect. No answer
    ever changes the arguments of a call.
    """
    check(dialect)
    if verdict.action is Action.ASK and name in _CANNOT_ASK:
        verdict = as_denial(verdict)
    if verdict.action is Action.PASS and not verdict.context:
        return b""
    answer = RENDERERS[dialect](Moment(moment), verdict)
    if answer is None:
        return b""
    return json.encode(answer)


def _moment(moment: str, event: Mapping[str, Any]) -> str:
    """Return the moment that an event belongs to; "" for one that no hook of dos answers."""
    named = event.get("hook_event_name")
    if named is None:
        return moment
    found = _MOMENTS.get(named) if isinstance(named, str) else None
    if found is Moment.STOP and moment == Moment.MARKER:
        return moment
    return found or ""


def _arguments(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of the tool. Cursor sends those of an MCP tool as a JSON text."""
    given = event.get("tool_input")
    if given is None and "toolCall" in event:
        given = _object(event["toolCall"]).get("args")
    if isinstance(given, str):
        try:
            given = json.decode(given)
        except (DecodeError, UnicodeError, RecursionError):
            given = None
    if isinstance(given, dict):
        return given
    own = {key: event[key] for key in ("command", "file_path", "edits") if key in event}
    return own or NO_ARGUMENTS


def _object(value: object) -> Mapping[str, Any]:
    """Return a value that is an object, or an empty one."""
    if isinstance(value, dict):
        return value
    return NO_ARGUMENTS


def _text(event: Mapping[str, Any], *keys: str) -> str:
    """Return the first of the keys that holds a text, or an empty text."""
    for key in keys:
        value = event.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _texts(event: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the texts of a list; an empty tuple where there is no list."""
    values = event.get(key)
    if not isinstance(values, list):
        return ()
    return tuple(value for value in values if isinstance(value, str) and value)


def _counts(event: Mapping[str, Any], *keys: str) -> bool:
    """Whether one of the keys holds a number above 0."""
    return any(isinstance(event.get(key), int) and event[key] > 0 for key in keys)
