"""Follow the links on the disk in the paths of a footprint, and drop what is nobody's business.

A path outside of the work tree is no matter of lanes: scratch files in /tmp or in the private home
of an agent, devices, caches. What an agent may write there is decided by its walls. Two kinds of
places are: another work tree of the repository (the user's checkout, the trees of other lanes), and
git's own files. Such paths stay, absolute, and no holder may write them.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import structs

from dos.errors import DosError
from dos.permission.ask import Footprint
from dos.permission.region import is_outside_of_tree
from dos.permission.shell.tree_paths import from_tree
from dos.workspace import Workspace, find

MOST_LINKS = 40  # as the kernel follows them
# Links to the folders of a process: which one that is depends on who asks.
_OF_A_PROCESS = frozenset(("cwd", "root", "fd"))
_STREAM = re.compile(r"/proc/(?:self|thread-self|\d+)/fd/\d+")


def resolve(footprint: Footprint, root: str | Path, *, guarded: Iterable[Path] = ()) -> Footprint:
    """Return the footprint with each path where it really leads. Never raises.

    The links of the nearest existing folder count, so that a link out of the lane is seen. `root`
    is the top of the work tree, and `guarded` are places besides those that follow from it whose
    paths stay: those of `guarded_trees` for the workspace of the lane.
    """
    if not footprint.paths:
        return footprint
    top = os.path.realpath(root)
    places: list[str] | None = None
    kept: dict[str, None] = {}
    for path in footprint.paths:
        found = _resolved(path, top)
        if is_outside_of_tree(found):
            if places is None:
                places = _guarded_places(top, guarded)
            if not _leads_through_a_process(found) and not _is_inside_any(found, places):
                continue
        kept.setdefault(found)
    return structs.replace(footprint, paths=tuple(kept))


def guarded_trees(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders of a workspace that only their own holders may write to."""
    trees = [workspace.tree, workspace.root, workspace.worktrees, workspace.state]
    if workspace.common is not None:
        trees += [workspace.common, workspace.common.parent]
    return tuple(trees)


def _resolved(path: str, top: str) -> str:
    """Where one path leads, relative to the top where it is below it."""
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111
    return from_tree(_followed(f"{top}/{path}" if path[:1] != "/" else path), base=top, root=top)


def _followed(path: str) -> str:
    """A path without links, and without `..` that follow them.

    Links of a process stay: here they would lead to the folders of this one.
    """
    rest = path.split("/")[::-1]
    done = ""
    links = 0
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        done = f"{done}/{name}"
        if done == "/proc":
            return posixpath.normpath("/".join([done, *reversed(rest)]))
        try:
            target = os.readlink(done)  # noqa: PTH115
        except (OSError, ValueError):  # no link, or a name that no file can have
            continue
        links += 1
        if links > MOST_LINKS:
            break
        done = "" if target.startswith("/") else done.rpartition("/")[0]
        rest += reversed(target.split("/"))
    return "/".join([done, *reversed(rest)]) or "/"


def _leads_through_a_process(path: str) -> bool:
    """Whether a path goes on behind a link of a process; the streams themselves are no files."""
    if not path.startswith("/proc/") or _STREAM.fullmatch(path):
        return False
    return not _OF_A_PROCESS.isdisjoint(path.split("/"))


def _guarded_places(top: str, guarded: Iterable[Path]) -> list[str]:
    """The folders outside of this work tree that belong to the repository."""
    places = [os.path.realpath(place) for place in guarded]
    places += _of_tree(Path(top))
    return [place for place in places if not _is_inside_any(top, [place])] + [
        # A place around this tree, such as the folder of all lanes' trees: what is in this tree
        # was sorted out before.
        place
        for place in places
        if place != top and _is_inside_any(top, [place])
    ]


def _of_tree(top: Path) -> list[str]:
    """The user's repository, and the other lanes' trees, as the work tree itself names them."""
    places: list[str] = []
    alternates = top / ".git" / "objects" / "info" / "alternates"
    try:
        lines = alternates.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        places += [str(Path(line).parent.parent) for line in lines if line.startswith("/")]
    except OSError:
        pass
    if top.parent.name == "worktrees":
        places.append(str(top.parent))
    try:
        found = find(top)
    except DosError:
        return places
    if found.common is not None:
        places += [str(found.common), str(found.worktrees)]
        if found.common.name == ".git":
            places.append(str(found.common.parent))
    return places


def _is_inside_any(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
