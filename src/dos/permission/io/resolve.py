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
LONGEST_PATH = 4_096  # characters; no system takes more
# Characters of the names that are looked up for one footprint: the kernel walks each from its
# beginning, so that deep folders cost the square of their depth.
MOST_LOOKED_UP = 4_000_000
_TOO_LONG = "a path is too long to be followed"
# Links to the folders of a process: which one that is depends on who asks.
_OF_A_PROCESS = frozenset(("cwd", "root", "fd"))
_PROCESS_FOLDER = re.compile(
    r"/proc/[^/]+/(?:task/[^/]+/)?(?P<link>cwd|root)(?P<rest>(?:/.*)?)", re.S
)
_STREAM = re.compile(r"/proc/(?:self|thread-self|\d+)/fd/\d+")


def resolve(
    footprint: Footprint,
    root: str | Path,
    *,
    beside: Path | None = None,
    guarded: Iterable[Path] = (),
) -> Footprint:
    """Return the footprint with each path where it really leads. Never raises.

    The links of the nearest existing folder count, so that a link out of the lane is seen. `root`
    is the top of the work tree, and `guarded` are places besides those that follow from it whose
    paths stay: those of `guarded_trees` for the workspace of the lane. `beside` is another work
    tree of the same repository: what is in it has the same paths as in the first.
    """
    if not footprint.paths:
        return footprint
    top = os.path.realpath(root)
    trees = [top] if beside is None else [top, os.path.realpath(beside)]
    trees.sort(key=len, reverse=True)  # one may be inside of the other
    places: list[str] | None = None
    kept: dict[str, None] = {}
    unknown = footprint.unknown
    follower = _Follower()
    for path in footprint.paths:
        # A program that computes the path itself may still be able to write there.
        named = path if len(path) <= LONGEST_PATH else posixpath.normpath(path)
        led = _led(named, top, follower) if len(named) <= LONGEST_PATH else None
        if led is None or named is not path:
            unknown = unknown or _TOO_LONG
        if led is None:
            continue
        found = _in_trees(led, trees)
        if is_outside_of_tree(found):
            if places is None:
                places = _guarded_places(top, guarded)
            through_process = _leads_through_a_process(found)
            if not through_process and not _is_inside_any(found, places):
                continue
            if through_process:
                kept.update(dict.fromkeys(_behind_process(found, top, trees, follower)))
        kept.setdefault(found)
    return structs.replace(footprint, paths=tuple(kept), unknown=unknown)


def guarded_trees(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders of a workspace that only their own holders may write to."""
    trees = [workspace.tree, workspace.root, workspace.worktrees, workspace.state]
    if workspace.common is not None:
        trees += _of_repository(workspace.common)
    return tuple(trees)


def _led(path: str, top: str, follower: "_Follower") -> str | None:
    """Where one path leads, as an absolute path without links; None: it is not known."""
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111
    return follower.follow(f"{top}/{path}" if path[:1] != "/" else path)


def _in_trees(led: str, trees: Sequence[str]) -> str:
    """A path from the top of the first tree that it is in; absolute where it is in none."""
    for tree in trees:
        found = from_tree(led, base=tree, root=tree)
        if not is_outside_of_tree(found):
            return found
    return led


def _behind_process(path: str, top: str, trees: Sequence[str], follower: "_Follower") -> list[str]:
    """Where a path behind a link of a process leads, if that process is the agent's own program."""
    parts = _PROCESS_FOLDER.fullmatch(path)
    if parts is None:
        return []
    base = top if parts["link"] == "cwd" else ""
    led = follower.follow(f"{base}{parts['rest']}" or "/")
    found = None if led is None else _in_trees(led, trees)
    return [] if found is None or is_outside_of_tree(found) else [found]


class _Follower:
    """Follows the links in the paths of one footprint, each folder once."""

    def __init__(self) -> None:
        self._folders: dict[str, str | None] = {}
        self._looked_up = 0
        self._missing = "\0"  # a folder that is not there, so that nothing is below it

    def follow(self, path: str) -> str | None:
        """A path without links, and without `..` that follow them; None where that takes too long.

        Links of a process stay: here they would lead to the folders of this one.
        """
        folder, _, name = path.rpartition("/")
        if not folder or name in ("", ".", ".."):
            return self._walk("", path)
        if folder not in self._folders:
            self._folders[folder] = self._walk("", folder)
        begun = self._folders[folder]
        return None if begun is None else self._walk(begun.removesuffix("/"), name)

    def _walk(self, done: str, more: str) -> str | None:
        """What follows of a path after a folder that has no links in it."""
        if done == "/proc" or done.startswith("/proc/"):
            return posixpath.normpath(f"{done}/{more}")
        rest = more.split("/")[::-1]
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
            self._looked_up += len(done)
            if self._looked_up > MOST_LOOKED_UP:
                return None
            target = self._target(done)
            if not target:
                continue
            links += 1
            if links > MOST_LINKS:
                break
            done = "" if target.startswith("/") else done.rpartition("/")[0]
            rest += reversed(target.split("/"))
        return "/".join([done, *reversed(rest)]) or "/"

    def _target(self, path: str) -> str:
        """Where a link leads; empty for what is no link, also for a name that no file can have."""
        if path.startswith(self._missing):
            return ""
        try:
            return os.readlink(path)  # noqa: PTH115
        except FileNotFoundError:
            self._missing = f"{path}/"
        except (OSError, ValueError):
            pass
        return ""


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
    places: list[Path] = []
    alternates = top / ".git" / "objects" / "info" / "alternates"
    try:
        lines = alternates.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        for line in lines:
            if line.startswith("/"):
                places += _of_repository(Path(line).parent)
    except OSError:
        pass
    if top.parent.name == "worktrees":
        places.append(top.parent)
    try:
        found = find(top)
    except DosError:
        return list(map(str, places))
    if found.common is not None:
        places += [*_of_repository(found.common), found.worktrees]
    return list(map(str, places))


def _of_repository(common: Path) -> list[Path]:
    """Git's common directory with what belongs to it: its checkout, or that of a submodule's owner.

    What else is beside a bare repository belongs to somebody else.
    """
    if common.name == ".git":
        return [common, common.parent]
    return [common, *(folder for folder in common.parents if folder.name == ".git")]


def _is_inside_any(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
