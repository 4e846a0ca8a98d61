"""What a lane says of itself: read for its form, and believed in nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos.git.objects import is_hash
from dos.machine.filesystem import is_reached_by_folders, is_real_folder
from dos.text import printable_path, quote

MOST_COMMITS = 2_000  # that a lane may name besides its head
# What each kind of saved work is, for people.
WHY = {
    "changes": "uncommitted changes",
    "autostash": "stashed by a rebase",
    "stash": "stashed",
    "branch": "commits of a branch",
    "repository": "a nested repository",
    "submodule": "a submodule with work that only it has",
}
# Of these the lane makes a commit whenever it hands over.
SNAPSHOTS = ("changes", "stash")


class Claims(Struct, frozen=True, kw_only=True):
    """What a lane says of itself, checked for its form alone."""

    head: str = ""  # empty: HEAD names no commit
    saved: tuple["SavedCommit", ...] = ()
    aside: tuple["AsideFolder", ...] = ()
    problem: str = ""  # why its files could not be committed
    has_pack: bool = False
    state: str = ""  # a digest of what is not committed

    @property
    def commits(self) -> list[str]:
        """Every commit that the lane names, the head first, each once."""
        names = [self.head, *(saved.commit for saved in self.saved)]
        return [name for name in dict.fromkeys(names) if name]


class SavedCommit(Struct, frozen=True, kw_only=True):
    """A commit besides the head: uncommitted changes, a stash, a branch."""

    commit: str
    kind: str
    onto: str = ""


class AsideFolder(Struct, frozen=True, kw_only=True):
    """A folder that no commit can hold."""

    path: str
    kind: str


def parse_claims(claims: Mapping[str, Any], folder: Path) -> Claims:
    """Return the claims of the lane at a folder.

    Raises KeyError, TypeError or ValueError for anything that is not of their form.
    """
    saved = []
    for entry in _few(claims["saved"]):
        kind = _one_of(entry["kind"])
        onto = _commit(entry["onto"])
        commit = _commit(entry["commit"])
        if not commit:
            raise ValueError("saved work without a commit")
        saved.append(SavedCommit(commit=commit, kind=kind, onto=onto))
    aside = []
    for entry in _few(claims["aside"]):
        path = _path_inside(folder, entry["path"])
        aside.append(AsideFolder(path=path, kind=_one_of(entry["kind"])))
    return Claims(
        head=_commit(claims["head"]),
        saved=tuple(saved),
        aside=tuple(aside),
        problem=printable_path(str(claims["problem"])[:500]),
        has_pack=claims.get("pack") is True,
        state=str(claims.get("state", ""))[:100],
    )


def _few(entries: Any) -> list[Any]:
    if not isinstance(entries, list) or len(entries) > MOST_COMMITS:
        raise ValueError("a list is too long, or none")
    return entries


def _one_of(kind: str) -> str:
    if kind not in WHY:
        raise ValueError(f"unknown kind {quote(str(kind)[:50])}")
    return kind


def _commit(name: Any) -> str:
    """Return a full name of an object, or an empty text; raises ValueError for anything else."""
    if not isinstance(name, str) or (name and not is_hash(name)):
        raise ValueError(f"{quote(str(name)[:80])} is no full name of a commit")
    return name


def _path_inside(folder: Path, path: str) -> str:
    """Return a path of a folder below the lane's, reached by no link; raises ValueError."""
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or parts[0] == ".git":
        raise ValueError(f"{quote(path[:200])} is no path inside")
    if not is_reached_by_folders(folder, path) or not is_real_folder(folder / path):
        raise ValueError(f"{quote(path[:200])} is no folder inside")
    return path
