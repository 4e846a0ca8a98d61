"""One tool call as its program reports it: the same value for every transport."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dos.permission.ask import Footprint, joined
from dos.permission.footprint import read_footprint
from dos.permission.tools import COMMAND_ARGUMENTS, PATH_ARGUMENTS


class ToolCall(Struct, frozen=True, kw_only=True):
    """A tool with its arguments. What a program does not report has its default."""

    tool: str = ""
    arguments: Mapping[str, Any] = {}
    paths: tuple[str, ...] = ()  # that the protocol names beside the arguments
    command: str = ""  # of a shell tool, where the protocol names it
    cwd: str = ""  # where the tool runs; empty: at the top of the work tree
    # The same call, as other parts of the request describe it. Which of them the program heeds is
    # not known, so all are judged.
    also: tuple["ToolCall", ...] = ()

    @property
    def named_paths(self) -> tuple[str, ...]:
        """The paths that the call names, read or written, for people who are asked about it."""
        found = list(self.paths)
        for name in PATH_ARGUMENTS:
            value = self.arguments.get(name)
            values = value if isinstance(value, list) else [value]
            found += [path for path in values if isinstance(path, str) and path]
        return tuple(dict.fromkeys(found))

    @property
    def named_command(self) -> str:
        """The command of a shell tool as its program gave it, for the same people."""
        values = (self.arguments.get(name) for name in COMMAND_ARGUMENTS)
        return self.command or next((text for text in values if isinstance(text, str)), "")

    def footprint(self, root: str) -> Footprint:
        """Return what the call writes in the work tree with this top. Never raises."""
        own = read_footprint(
            self.tool,
            self.arguments,
            cwd=self.cwd or root,
            root=root,
            paths=self.paths,
            command=self.command,
        )
        if not self.also:
            return own
        return joined([own, *(each.footprint(root) for each in self.also)])
