"""The workspace: its root, its git directories, and the directory of its state."""

import os
from pathlib import Path

from msgspec import Struct, structs

from dos.errors import WorkspaceMissing


class Workspace(Struct, frozen=True, kw_only=True):
    """The directories of a workspace, as seen from one of its work trees."""

    root: Path  # where dos.toml is, or would be
    tree: Path  # the work tree of the caller: the main checkout, or a linked worktree
    common: Path | None  # git's common directory; None outside of git
    state: Path  # shared by every subdirectory and worktree

    @property
    def config(self) -> Path:
        """The path of dos.toml, also when there is none."""
        return self.root / "dos.toml"

    @property
    def prefix(self) -> str:
        """The folder of dos.toml as git's paths name it, with `/` last; "" at the top of the tree.

        The globs of lanes start in this folder. The dos.toml of the main checkout, which also
        counts in a linked worktree, is at the top.
        """
        if self.root == self.tree or self.uses_main_checkout:
            return ""
        return f"{self.root.relative_to(self.tree).as_posix()}/"

    @property
    def uses_main_checkout(self) -> bool:
        """Whether the caller is in a linked worktree and the main checkout's dos.toml counts."""
        return not self.root.is_relative_to(self.tree)

    @property
    def main_tree(self) -> Path:
        """The main checkout; the work tree of the caller where the repository has none."""
        if self.common is not None and self.common.name == ".git":
            return self.common.parent
        return self.tree

    @property
    def worktrees(self) -> Path:
        """The folder of the lanes' worktrees: one for each clone, in the user's state folder.

        Below `.git` some agents refuse to edit and some test runners find no tests; below the work
        tree the user's tools would find every file twice.
        """
        home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111
        if not os.path.isabs(home):  # noqa: PTH117 - there may be no home
            return self.state / "worktrees"
        from hashlib import sha256  # most verbs need neither

        clone = sha256(os.fsencode(self.state)).hexdigest()[:12]
        return Path(home) / "dos" / f"{self.root.name}-{clone}" / "worktrees"

    @property
    def homes(self) -> Path:
        """The folder of the private homes of the lanes' agents and checks, beside the worktrees."""
        return self.worktrees.with_name("homes")


def find(start: Path) -> Workspace:
    """Return the workspace that holds a directory. Raises WorkspaceMissing if there is no such one.

    Its root has the nearest dos.toml upwards, or else is the top of the work tree. In a linked
    worktree the main checkout's dos.toml comes first, so that a branch cannot change the policy
    that
    it is judged by.
    """
    if not os.path.isdir(start):  # noqa: PTH112 - never raises
        raise WorkspaceMissing(
            f"{_shown(start)} is not a directory",
            hint="Give --workspace a repository, or cd into one.",
        )
    start = Path(os.path.realpath(start))
    folders: list[Path] = []
    for folder in (start, *start.parents):
        folders.append(folder)
        common = _common_directory(folder / ".git")
        if common:
            root = _root_in_git(folder, common, folders)
            return Workspace(root=root, tree=folder, common=common, state=common / "dos")
    root = _with_config(folders) or start
    return Workspace(root=root, tree=root, common=None, state=root / ".dos")


def _shown(start: Path) -> str:
    """A folder as a message can show it."""
    from dos.text import printable_path  # a folder that is no folder is rare

    return printable_path(str(start))


def _root_in_git(tree: Path, common: Path, folders: list[Path]) -> Path:
    """The root of a workspace in git. `folders` lead from the caller up to the work tree."""
    if common.name == ".git":
        main = common.parent
        if main != tree and (main / "dos.toml").exists():
            return main
    return _with_config(folders) or tree


def _with_config(folders: list[Path]) -> Path | None:
    for folder in folders:
        if (folder / "dos.toml").exists():
            return folder
    return None


def with_root(root: Path) -> Workspace:
    """Return the workspace with exactly this root, also when its dos.toml is gone."""
    return structs.replace(find(root), root=Path(os.path.realpath(root)))


def is_work_tree(place: Workspace) -> bool:
    """Whether git knows the tree of a workspace: the main checkout, or a linked worktree.

    Anybody can make a folder whose `.git` names a repository; for a worktree of it the repository
    names the folder as well. Outside of git there is nothing to look like.
    """
    if place.common is None or place.tree / ".git" == place.common:
        return True
    marker = place.tree / ".git"
    try:
        named = _private_directory(marker)
        if named is None:
            return False
        private = Path(os.path.realpath(named))
        if private.parent != place.common / "worktrees":
            return False
        back = (private / "gitdir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, ValueError):
        return False
    return os.path.realpath(private / back) == os.path.realpath(marker)


def bare_repository(start: Path) -> Path | None:
    """Return the bare repository that holds a directory. None: in a checkout, or outside of git."""
    start = Path(os.path.realpath(start))
    for folder in (start, *start.parents):
        if _common_directory(folder / ".git"):
            return None
        has_folders = (folder / "objects").is_dir() and (folder / "refs").is_dir()
        if has_folders and (folder / "HEAD").is_file():
            return folder
    return None


def _common_directory(marker: Path) -> Path | None:
    """Git's common directory of a `.git` entry. None: the entry is not one of a repository.

    The entry is read directly, because starting git would double the time of a verb.
    """
    if marker.is_dir():
        if not os.access(marker, os.X_OK):
            raise WorkspaceMissing(
                f"this user cannot enter {marker}",
                hint=f"`ls -ld {marker}` shows its owner and mode.",
            )
        return marker if (marker / "HEAD").exists() else None
    private = _private_directory(marker)
    if private is None:
        return None
    try:
        shared = private / (private / "commondir").read_text(encoding="utf-8").strip()
    except OSError:
        shared = private  # a submodule, or a work tree with its git directory elsewhere
    common = Path(os.path.realpath(shared))
    return common if (common / "HEAD").exists() else None


def _private_directory(marker: Path) -> Path | None:
    """The git directory that a file `.git` names, where its work tree's HEAD is; None: none."""
    try:
        text = marker.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if not text.startswith("gitdir:") or "\0" in text:
        return None
    return marker.parent / text.removeprefix("gitdir:").strip()
