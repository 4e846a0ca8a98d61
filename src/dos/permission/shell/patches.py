"""The files that a patch changes: the format of `apply_patch`, and unified diffs."""

import re
from collections.abc import Sequence

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.git_commands import UNREAD_PATCH
from dos.permission.shell.options import parse
from dos.permission.shell.syntax.tokens import Redirect, Word

_SECTION = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to|Move File|Rename to): ?(.+)", re.MULTILINE
)
_BEGIN = re.compile(r"^\*\*\* Begin Patch", re.MULTILINE)
_HEADER = re.compile(r"(?:---|\+\+\+) (?!\d+(?:,\d+)? ----)(\"(?:[^\"\\]|\\.)*\"|[^\t]+)")
_RENAME = re.compile(r"(?:rename|copy) (?:from|to) (.+)")
_GIT = re.compile(r"diff --git (\"?[a-z]/.+?) (\"?[a-z]/.+)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_OCTAL = re.compile(rb"\\([0-7]{3})")


def patched_paths(text: str) -> tuple[str, ...]:
    """Return the paths that an `apply_patch` text changes, in their order."""
    names = (name.rstrip(" \t\r") for name in _SECTION.findall(text))
    return tuple(dict.fromkeys(name for name in names if name))


def is_patch(text: str) -> bool:
    """Whether a text is in the format of `apply_patch`."""
    return bool(_BEGIN.search(text))


def diff_paths(text: str, strip: int = 1) -> tuple[str, ...]:
    """Return the paths that a diff changes, without their first `strip` folders.

    Lines of a hunk are no headers, whatever they look like.
    """
    paths: list[str] = []
    removed = added = 0  # lines of the hunk that are still to come
    for line in text.split("\n"):
        if removed > 0 or added > 0:
            removed -= line[:1] in ("-", " ", "")
            added -= line[:1] in ("+", " ", "")
        elif hunk := _HUNK.match(line):
            removed = int(hunk[1] or 1)
            added = int(hunk[2] or 1)
        else:
            paths += _named_by(line, strip)
    return tuple(dict.fromkeys(paths))


def _named_by(line: str, strip: int) -> list[str]:
    """The paths that a line outside of the hunks names."""
    if found := _HEADER.match(line):
        names = [found[1]]
    elif found := _RENAME.match(line):
        return [_unquoted(found[1].strip())]
    elif found := _GIT.match(line):
        names = [found[1], found[2]]
    else:
        return []
    paths = []
    for name in map(_unquoted, map(str.strip, names)):
        if name and name != "/dev/null":
            paths.append("/".join(name.split("/")[strip:]) or name)
    return paths


def _unquoted(name: str) -> str:
    """A name without git's quotes, which stand around names with special characters."""
    if not name.startswith('"'):
        return name
    raw = _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), name.strip('"').encode())
    text = raw.decode(errors="surrogateescape")
    return text.replace('\\"', '"').replace("\\\\", "\\")


def with_heredoc(
    effect: Effect,
    arguments: Sequence[Word],
    redirects: Sequence[Redirect],
    *,
    default_strip: int | None,
) -> Effect:
    """Return the effect of `patch` and `git apply`, when the patch is a heredoc of the command.

    Without a default, `patch` looks for the file by its last name.
    """
    bodies = [redirect.body for redirect in redirects if redirect.body]
    if not bodies or effect.unknown != UNREAD_PATCH:
        return effect
    found = parse(arguments, "pd", ("strip", "directory"))
    level = found.value("p", "strip")
    strip = default_strip
    if level is not None and level.text.isdigit():
        strip = int(level.text)
    elif found.has("p", "strip"):
        strip = None
    named = () if strip is None else diff_paths(bodies[-1], strip)
    if found.has("d", "directory") or not named:
        return unknown("what a patch changes depends on its options")
    unsure = "patch keeps copies" if default_strip is None else ""
    writes = [*effect.writes, *(Word(text=path) for path in named)]
    return Effect(writes=writes, unknown=unsure)
