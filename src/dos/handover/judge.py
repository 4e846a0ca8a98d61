"""Whether what a lane changed may enter the user's repository.

Every rule looks at facts alone: the name, the mode and the content of an entry, and what the base
has at the same path. Only what differs from the base is judged, so that a repository that breaks a
rule already can be worked on.
"""

from collections.abc import Collection

from dos.handover.limits import Limits
from dos.handover.names import (
    GITMODULES,
    disguises_gitmodules,
    folder_names_git,
    new_collision,
)
from dos.handover.refusal import Refused, Rule, show_path
from dos.text import quote

# Modes as trees have them.
FILE = b"100644"
PROGRAM = b"100755"
LINK = b"120000"
SUBMODULE = b"160000"
FOLDER = b"40000"
_MODES = frozenset({FILE, PROGRAM, LINK, SUBMODULE, FOLDER})
_NO_NAMES = frozenset({b"", b".", b".."})


def judge_entry(
    folder: bytes, name: bytes, mode: bytes, base_mode: bytes | None, limits: Limits
) -> Refused | None:
    """Judge an entry that is not in the base: its name, its length and its mode.

    `folder` is the path of its folder with `/` last, "" at the top. `base_mode` is the mode of what
    the base has at this path, None where it has nothing.
    """
    path = folder + name
    if name in _NO_NAMES or b"/" in name:
        return _refuse(Rule.NAME, path, "has a part that is not a name")
    if folder_names_git(name):
        return _refuse(Rule.NAME, path, "is a name that some systems take for .git")
    if disguises_gitmodules(name):
        return _refuse(Rule.NAME, path, "is a name that some systems take for .gitmodules")
    if len(name) > limits.name_bytes:
        return _refuse(
            Rule.LIMIT, path, f"has a name of {len(name):,} bytes; {limits.name_bytes:,} are taken"
        )
    if len(path) > limits.path_bytes:
        return _refuse(
            Rule.LIMIT, path, f"is {len(path):,} bytes long; {limits.path_bytes:,} are taken"
        )
    return _judge_mode(path, mode, base_mode)


def _judge_mode(path: bytes, mode: bytes, base_mode: bytes | None) -> Refused | None:
    """Judge the mode of a new entry: a file, a program, a link, a folder or a known submodule."""
    if mode not in _MODES and mode != base_mode:
        shown = mode.decode("ascii", "replace")
        return _refuse(Rule.MODE, path, f"has the mode {quote(shown)}, which git does not write")
    if mode == SUBMODULE and base_mode != SUBMODULE:
        return _refuse(
            Rule.SUBMODULE,
            path,
            "is a new submodule; only submodules that the base has can be moved to another commit",
        )
    if path == GITMODULES and mode not in (FILE, PROGRAM):
        return _refuse(Rule.MODE, path, "is not a regular file")
    return None


def judge_names(
    folder: bytes, names: Collection[bytes], before: Collection[bytes]
) -> Refused | None:
    """Judge the names of a folder together; `before` are those that it has in the base."""
    pair = new_collision(names, before)
    if pair is None:
        return None
    added, other = pair
    return _refuse(
        Rule.COLLISION,
        folder + added,
        f"and {show_path(folder + other)} are one file on systems that ignore case or normal form",
    )


def judge_depth(folder: bytes, depth: int, limits: Limits) -> Refused | None:
    """Judge how many folders are above the entries of a folder."""
    if depth <= limits.depth:
        return None
    return _refuse(
        Rule.LIMIT, folder, f"is nested more than {limits.depth:,} levels deep; fewer are taken"
    )


def judge_link(path: bytes, target: bytes) -> Refused | None:
    """Judge the target of a symbolic link: it has to stay in the tree.

    `..` counts only before the first name. After one it would leave the folder that the name leads
    to, and that may be another link: with `d -> .`, `d/../x` is outside although it reads as `x`.
    """
    shown = quote(target.decode("utf-8", "surrogateescape"))
    if not target or b"\0" in target:
        return _refuse(Rule.LINK, path, f"is a symbolic link to {shown}, which is not a path")
    if target.startswith(b"/"):
        return _refuse(Rule.LINK, path, f"is a symbolic link to the absolute path {shown}")
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    up = 0
    while up < len(parts) and parts[up] == b"..":
        up += 1
    if up > path.count(b"/"):
        return _refuse(
            Rule.LINK, path, f"is a symbolic link to {shown}, which leaves the repository"
        )
    names = parts[up:]
    if b".." in names:
        return _refuse(
            Rule.LINK, path, f"is a symbolic link to {shown}; `..` may only be at the beginning"
        )
    if any(map(folder_names_git, names)):
        return _refuse(Rule.LINK, path, f"is a symbolic link to {shown}, which is in .git")
    return None


def _refuse(rule: Rule, path: bytes, what: str) -> Refused:
    return Refused(rule=rule, reason=f"{show_path(path)} {what}")
