"""Find in a program's output what its walls refused, and say which setting can allow it."""

import re
from collections.abc import Sequence

from dos.sandbox.walls import Walls

# What programs print when the kernel refuses something.
_WORDS = (
    "Permission denied",
    "PermissionError",
    "Operation not permitted",
    "Read-only file system",
    "EACCES",
    "EPERM",
    "EROFS",
)
_REFUSED = re.compile("|".join(_WORDS))
# What programs print of a socket that namespaces hide from them.
_MISSING = re.compile(
    "no such file|ENOENT|(?:cannot|can't|could not|failed to) connect", re.IGNORECASE
)
_HIDDEN = re.compile("(?:/var)?/run/")
_AROUND = 100  # characters before and after: a line may be a whole turn of an agent


def name_refusal(result: str, lines: Sequence[str], walls: Walls | None) -> str:
    """Return how a program ended, with what it was refused and what can allow that.

    It may have been the walls or the permissions of the file itself; a person can tell by the path.
    `result` stays as it is without walls, and where nothing was refused.
    """
    if walls is None or not (line := refused_line(lines, walls)):
        return result
    hint = f"({_hint(line, walls)})"
    if not result:
        return f"{line} {hint}"
    if line in result:
        return f"{result} {hint}"
    return f"{result}; before that: {line} {hint}"


def refused_line(lines: Sequence[str], walls: Walls) -> str:
    """Return the last line of a program's output that speaks of a refusal; empty: there is none."""
    for line in reversed(lines):
        found = _REFUSED.search(line)
        if found is None and walls.namespaces and _MISSING.search(line):
            found = _HIDDEN.search(line)
        if found is not None:
            return line[max(0, found.start() - _AROUND) : found.end() + _AROUND].strip()
    return ""


def _hint(line: str, walls: Walls) -> str:
    """Return which part of the walls it may have been, and which setting can allow it."""
    if walls.program:
        return f"{walls.program[0]} may have refused it"
    if "Read-only file system" in line or "EROFS" in line:
        return "it is read-only in the sandbox; [sandbox] writable can list it"
    if "Operation not permitted" in line or "EPERM" in line:
        if walls.no_sockets:
            return 'the sandbox may have refused it: [sandbox] sockets is "none"'
        return "the sandbox may have refused it: a program in it cannot become root"
    if _REFUSED.search(line):
        return "the sandbox may have refused it; [sandbox] writable, readable or ports can allow it"
    return "/run is empty in the sandbox; [sandbox] readable can list the socket"
