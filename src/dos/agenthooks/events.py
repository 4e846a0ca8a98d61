"""The event of a hook and its answer, in the form that all agent programs share."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from dos.permission.call import ToolCall

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class Moment(StrEnum):
    """When an agent program calls a hook."""

    PRETOOL = "pretool"  # a tool is about to be used
    POSTTOOL = "posttool"  # a tool was used
    STOP = "stop"  # the agent is about to stop
    MARKER = "marker"  # the agent is about to stop, and may have to wait instead
    SESSION = "session"  # a conversation begins


class Action(StrEnum):
    """What a hook answers."""

    PASS = "PASS"  # no opinion: nothing is printed
    ALLOW = "ALLOW"  # the program need not ask its user
    WARN = "WARN"  # the agent is told something, and continues
    ASK = "ASK"  # the program asks its user
    DENY = "DENY"  # the call is not made, or the agent does not stop


class HookEvent(Struct, frozen=True, kw_only=True):
    """What an agent program reports. What it does not send has its default."""

    host: str = ""  # the dialect
    moment: str = ""  # a Moment; empty: one that dos does not answer
    name: str = ""  # the program's own name of the event
    session: str = ""  # the program's own name for the conversation
    cwd: str = ""
    workspace_roots: tuple[str, ...] = ()
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=lambda: NO_ARGUMENTS)
    paths: tuple[str, ...] = ()  # that the program itself names as written
    result: Any = None
    has_result: bool = False
    transcript: str = ""
    last_message: str | None = None  # None: the program does not send it
    already_continued: bool = False  # its stop was refused once before
    was_cut_off: bool = False  # the agent was interrupted, and claims nothing

    def call(self, cwd: str = "") -> ToolCall:
        """Return the tool call, made in `cwd`; empty: where the event says."""
        return ToolCall(
            tool=self.tool,
            arguments=self.arguments,
            paths=self.paths,
            cwd=cwd or self.cwd,
        )


class HookVerdict(Struct, frozen=True, kw_only=True):
    """The answer to an event, before it is put into the words of a program."""

    action: Action = Action.PASS
    reason: str = ""  # why, for the agent and its user
    context: str = ""  # a fact for the agent
