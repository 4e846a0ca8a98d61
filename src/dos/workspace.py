"""Where we are: the workspace's root, its git directories, and the directory that holds its state."""

import os
from pathlib import Path

from msgspec import Struct, structs

from dos.errors import WorkspaceMissing


class Workspace(Struct, frozen=True, kw_only=True):
    root: Path  # where dos.toml is, or would be
    tree: Path  # the work tree the caller stands in: the root itself, or a linked worktree
    common: Path | None  # git's common directory; None outside of git
    state: Path  # shared by every subdirectory and worktree

    @property
    def config(self) -> Path:
        return self.root / "dos.toml"

    @property
    def prefix(self) -> str:
        """How git's paths begin in the folder of dos.toml, where those of lanes start: "" at the top of the work tree.

        The dos.toml of the main checkout, which also counts in a linked worktree, is at the top.
        """
        if self.root == self.tree or self.uses_main_checkout:
            return ""
        return f"{self.root.relative_to(self.tree).as_posix()}/"

    @property
    def uses_main_checkout(self) -> bool:
        """The caller stands in a linked worktree, and the dos.toml that counts is the main checkout's."""
        return not self.root.is_relative_to(self.tree)

    @property
    def worktrees(self) -> Path:
        """Where the lanes' worktrees are: of this clone, in the user's state folder.

        Below `.git` some agents refuse to edit and some test runners find no tests; below the work tree, the tools of
        the user would find every file twice.
        """
        home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111
        if not os.path.isabs(home):  # noqa: PTH117 - there may be no home
            return self.state / "worktrees"
        from hashlib import sha256  # most verbs need neither

        clone = sha256(os.fsencode(self.state)).hexdigest()[:12]
        return Path(home) / "dos" / f"{self.root.name}-{clone}" / "worktrees"


def find(start: Path) -> Workspace:
    """The workspace that holds a directory.

    The nearest dos.toml upwards wins, else the top of the work tree. In a linked worktree the main one's dos.toml is
    asked first: a branch cannot change the policy that it is judged under.
    """
    start = Path(os.path.realpath(start))
    if not start.is_dir():
        raise WorkspaceMissing(
            f"{start} is not a directory", hint="Give --workspace a repository, or cd into one."
        )
    places = [start, *start.parents]
    tree, common = next(
        ((place, found) for place in places if (found := _common(place / ".git"))), (None, None)
    )
    if tree and common:
        main = common.parent if common.name == ".git" else None
        if main and main != tree and (main / "dos.toml").exists():
            return Workspace(root=main, tree=tree, common=common, state=common / "dos")
        inside = places[: places.index(tree) + 1]
        root = next((place for place in inside if (place / "dos.toml").exists()), tree)
        return Workspace(root=root, tree=tree, common=common, state=common / "dos")
    root = next((place for place in places if (place / "dos.toml").exists()), start)
    return Workspace(root=root, tree=root, common=None, state=root / ".dos")


def with_root(root: Path) -> Workspace:
    """The workspace with this very root, also when the dos.toml that made it one is gone."""
    return structs.replace(find(root), root=Path(os.path.realpath(root)))


def bare_repository(start: Path) -> Path | None:
    """The bare repository that holds a directory; None in a checkout, and outside of git."""
    start = Path(os.path.realpath(start))
    for place in (start, *start.parents):
        if _common(place / ".git"):
            return None
        if (
            (place / "HEAD").is_file()
            and (place / "objects").is_dir()
            and (place / "refs").is_dir()
        ):
            return place
    return None


def _common(marker: Path) -> Path | None:
    """Git's common directory from a `.git` entry, read by hand: starting git would double the time of a verb."""
    if marker.is_dir():
        if not os.access(marker, os.X_OK):
            raise WorkspaceMissing(
                f"{marker} may not be looked into", hint=f"`ls -ld {marker}` shows whose it is."
            )
        return marker if (marker / "HEAD").exists() else None
    try:
        text = marker.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if not text.startswith("gitdir:") or "\0" in text:
        return None
    private = marker.parent / text.removeprefix("gitdir:").strip()
    try:
        shared = private / (private / "commondir").read_text(encoding="utf-8").strip()
    except OSError:
        shared = private  # a submodule, or a work tree with its git directory elsewhere
    found = Path(os.path.realpath(shared))
    return found if (found / "HEAD").exists() else None
