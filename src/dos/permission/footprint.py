"""What a tool call writes, by the tool's name and its arguments.

A tool that is in no table writes what its path argument names, when its name or another argument
speaks of writing; without these it has no footprint. That misses a tool with telling neither a name
nor an argument, and never stops one that reads: the commit gate and the landing are behind it.

Which of several arguments a program heeds is not known here. So each that can name a path, a
command or a folder counts: a harmless one beside another proves nothing.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

from dos.permission import tools
from dos.permission.ask import Footprint
from dos.permission.shell import patches
from dos.permission.shell.reader import read_command
from dos.permission.shell.tree_paths import from_tree

MOST_PATHS = 2_000
DEEPEST = 3  # lists of objects inside one another
_OF_A_PATH = (str, Mapping, bool, NoneType)
_NO_COMMAND = "the command is not known"
_NO_PATH = "the path is not known"
_ODD_PATH = "an argument for a path is no text"
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
        found, is_odd = _named_paths(self._arguments, {*names, *tools.PATH_ARGUMENTS})
        found = [*self._paths, *found]
        if not found:
            return Footprint(unknown=_NO_PATH)
        return self._of_paths(found, _ODD_PATH if is_odd else "")

    def _patch(self, names: Iterable[str]) -> Footprint:
        found = [*self._paths]
        unknown = ""
        for text in _texts(self._arguments, names):
            named = patches.patched_paths(text)
            if not patches.is_patch(text):
                named += patches.diff_paths(text)
            unknown = unknown if named else _NO_PATCH
            found += named
        if not found:
            return Footprint(unknown=_NO_PATCH)
        return self._of_paths(found, unknown)

    def _shell(self) -> Footprint:
        if self._tool in tools.TYPES_INTO_A_PROGRAM:
            return Footprint(unknown="text for a running program cannot be read")
        commands = _commands(self._arguments)
        if self._command:
            commands = [self._command, *(one for one in commands if one != self._command)]
        if not commands:
            return Footprint(unknown=_NO_COMMAND)
        read = [
            read_command(command, base=base, root=self._root)
            for command in commands
            for base in self._folders()
        ]
        paths = dict.fromkeys(path for written in read for path in written.paths)
        unknown = next((written.unknown for written in read if written.unknown), "")
        reads_only = not paths and not unknown
        return Footprint(
            paths=tuple(paths),
            unknown=unknown,
            has_no_effect=reads_only and not any(written.acts for written in read),
        )

    def _folders(self) -> list[str]:
        """The folders that a command may start in."""
        named = dict.fromkeys(_texts(self._arguments, tools.FOLDER_ARGUMENTS))
        found = [folder if folder.startswith("/") else f"{self._base}/{folder}" for folder in named]
        return found or [self._base]

    def _unlisted(self) -> Footprint:
        runs = self._command or (tools.says_it_runs(self._tool) and _commands(self._arguments))
        run = self._shell() if runs else Footprint()
        if tools.says_it_reads(self._tool):
            return run
        is_content = not tools.CONTENT_ARGUMENTS.isdisjoint(self._arguments)
        if not (self._paths or tools.says_it_writes(self._tool) or is_content):
            return run
        found, is_odd = _named_paths(self._arguments, tools.PATH_ARGUMENTS)
        written = self._of_paths([*self._paths, *found], _ODD_PATH if is_odd else "")
        return Footprint(
            paths=tuple(dict.fromkeys((*run.paths, *written.paths))),
            unknown=run.unknown or written.unknown,
        )

    def _of_paths(self, found: Sequence[str], unknown: str = "") -> Footprint:
        named = [
            from_tree(path, base=self._base, root=self._root)
            for path in found[:MOST_PATHS]
            if path and "\0" not in path
        ]
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


def _named_paths(arguments: Mapping[str, Any], names: Iterable[str]) -> tuple[list[str], bool]:
    """The paths under these names, also of the objects in lists, and whether one is no text."""
    found: list[str] = []
    is_odd = False
    names = set(names)
    waiting: deque[tuple[Mapping[str, Any], int]] = deque([(arguments, 0)])
    while waiting:
        each, depth = waiting.popleft()
        for name, value in each.items():
            items = value if isinstance(value, list) else [value]
            if name in names:
                found += [item for item in items if isinstance(item, str)]
                is_odd = is_odd or any(not isinstance(item, _OF_A_PATH) for item in items)
            if isinstance(value, list) and depth < DEEPEST:
                waiting += [(item, depth + 1) for item in value if isinstance(item, Mapping)]
    return found, is_odd


def _commands(arguments: Mapping[str, Any]) -> list[str]:
    """The commands of a shell tool: texts, or the words of a program and its arguments."""
    found: list[str] = []
    for name in tools.COMMAND_ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            found.append(value)
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            found.append(" ".join(_quoted(item) for item in value))
    return list(dict.fromkeys(found))


def _quoted(word: str) -> str:
    """A word as the shell reads it back."""
    return "'" + word.replace("'", "'\\''") + "'"
