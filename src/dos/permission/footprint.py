"""What a tool call writes, by the tool's name and its arguments.

A tool that is in no table writes what its path argument names, when its name or another argument
speaks of writing; without these it has no footprint. That misses a tool with telling neither a name
nor an argument, and never stops one that reads: the commit gate and the landing are behind it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dos.permission import tools
from dos.permission.ask import Footprint
from dos.permission.shell import patches
from dos.permission.shell.reader import read_command
from dos.permission.shell.tree_paths import from_tree

MOST_PATHS = 2_000
_NO_COMMAND = "the command is not known"
_NO_PATH = "the path is not known"
_NO_PATCH = "what a patch changes is not known"


def read_footprint(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    cwd: str,
    root: str,
    host: str = "",  # noqa: ARG001 - part of the agreed call
    paths: Sequence[str] = (),
    command: str = "",
) -> Footprint:
    """Return what a call writes. Never raises, whatever the arguments are.

    `root` is the top of the work tree and `cwd` the folder of the program. `paths` and `command`
    are what a protocol names beside the arguments: the locations of an ACP request, for one. No two
    programs use a name for different things, so `host` decides nothing yet.
    """
    call = _Call(tool, arguments, cwd=cwd, root=root, paths=paths, command=command)
    return call.footprint()


class _Call:
    """One call with its arguments."""

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        cwd: str,
        root: str,
        paths: Sequence[str],
        command: str,
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._root = root
        self._base = cwd or root
        self._paths = paths
        self._command = command

    def footprint(self) -> Footprint:
        """What it writes, by the table that its tool is in."""
        tool = self._tool
        if tool in tools.PATCHERS:
            return self._patch(tools.PATCHERS[tool])
        if tool in tools.SHELLS or tool in tools.TYPES_INTO_A_PROGRAM:
            return self._shell()
        if tool in tools.READERS:
            return Footprint(has_no_effect=True)
        if tool in tools.WITHOUT_FILES:
            return Footprint()
        if tool in tools.WRITERS:
            return self._writes(tools.WRITERS[tool])
        return self._unlisted()

    def _writes(self, names: Iterable[str]) -> Footprint:
        found = [*self._paths, *_texts(self._arguments, names)]
        found = found or _texts(self._arguments, tools.PATH_ARGUMENTS)
        if not found:
            return Footprint(unknown=_NO_PATH)
        return self._of_paths(found)

    def _patch(self, names: Iterable[str]) -> Footprint:
        found = [*self._paths]
        for text in _texts(self._arguments, names):
            found += patches.patched_paths(text) or patches.diff_paths(text)
        if not found:
            return Footprint(unknown=_NO_PATCH)
        return self._of_paths(found)

    def _shell(self) -> Footprint:
        if self._tool in tools.TYPES_INTO_A_PROGRAM:
            return Footprint(unknown="text for a running program cannot be read")
        command = self._command or _command(self._arguments)
        if not command:
            return Footprint(unknown=_NO_COMMAND)
        base = self._base
        for folder in _texts(self._arguments, tools.FOLDER_ARGUMENTS)[:1]:
            base = folder if folder.startswith("/") else f"{base}/{folder}"
        written = read_command(command, base=base, root=self._root)
        reads_only = not written.paths and not written.unknown
        return Footprint(
            paths=written.paths,
            unknown=written.unknown,
            has_no_effect=reads_only and not written.acts,
        )

    def _unlisted(self) -> Footprint:
        if self._command or (tools.says_it_runs(self._tool) and _command(self._arguments)):
            return self._shell()
        if tools.says_it_reads(self._tool):
            return Footprint()
        is_content = not tools.CONTENT_ARGUMENTS.isdisjoint(self._arguments)
        if self._paths or tools.says_it_writes(self._tool) or is_content:
            found = [*self._paths, *_texts(self._arguments, tools.PATH_ARGUMENTS)]
            return self._of_paths(found)
        return Footprint()

    def _of_paths(self, found: Sequence[str]) -> Footprint:
        named = [
            from_tree(path, base=self._base, root=self._root)
            for path in found[:MOST_PATHS]
            if path and "\0" not in path
        ]
        unknown = ""
        if len(found) > MOST_PATHS:
            unknown = f"more than {MOST_PATHS} paths are named"
        elif len(named) < len(found):
            unknown = _NO_PATH
        return Footprint(paths=tuple(dict.fromkeys(named)), unknown=unknown)


def _texts(arguments: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The texts under these names, and those in lists under them."""
    found: list[str] = []
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, str)]
    return found


def _command(arguments: Mapping[str, Any]) -> str:
    """The command of a shell tool: a text, or the words of a program and its arguments."""
    for name in tools.COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(_quoted(item) for item in value)
    return ""


def _quoted(word: str) -> str:
    """A word as the shell reads it back."""
    return "'" + word.replace("'", "'\\''") + "'"
