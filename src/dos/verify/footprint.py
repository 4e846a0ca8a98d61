"""Decide whether a commit changed anything that counts for its unit, and inside its scope.

Documents, bookkeeping, lock files and cosmetic changes do not count, unless the unit is about
them: they are what an agent can change without doing the work.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos import regions
from dos.regions import Region
from dos.text import printable_path
from dos.verify import file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.survival import File

# Tools write these beside every change of a dependency.
_LOCK_FILES = (
    ".lock",
    ".sum",
    "package-lock.json",
    "pnpm-lock.yaml",
    "npm-shrinkwrap.json",
    "packages.lock.json",
    ".lockfile",
)


class Purpose(StrEnum):
    """What a unit says that it is about."""

    CODE = "code"
    DOCS = "docs"
    CONFIG = "config"


class Scope(Struct, frozen=True, kw_only=True):
    """Where a unit declared, before the commit, that its work would be."""

    title: str = ""
    paths: tuple[str, ...] = ()  # globs; empty: it declared none
    files: tuple[str, ...] = ()  # files that its text names, where it declares no paths
    purpose: Purpose = Purpose.CODE
    acceptance: str = ""
    # Scopes in further documents that declare the unit: the work has to lie in all of them.
    others: tuple["Scope", ...] = ()

    @property
    def is_declared(self) -> bool:
        """Whether the unit declared where its work would be."""
        return bool(self.paths or self.files)

    @property
    def expected(self) -> tuple[str, ...]:
        """The paths or files that the unit declared, for people."""
        return self.paths or self.files

    def covers(self, path: str) -> bool:
        """Whether a path is inside this scope and every other one of the unit."""
        if self.paths and not regions.lane_holds(self._region, path):
            return False
        if self.files and not any(path == file or path.endswith(f"/{file}") for file in self.files):
            return False
        return all(other.covers(path) for other in self.others)

    @property
    def _region(self) -> Region:
        return regions.region(self.paths)


class Change(Struct, frozen=True, kw_only=True):
    """One file of a commit's change. A file that is not text has its hash as its only line."""

    file: File
    is_text: bool = True

    @property
    def path(self) -> str:
        """The path after the change."""
        return self.file.path


class Footprint(Struct, frozen=True, kw_only=True):
    """The files of a commit that count for its unit; or a flaw and the reason if none does."""

    files: tuple[File, ...] = ()
    flaw: str = ""  # empty, bookkeeping_only, docs_only, cosmetic_only, stubs_only
    why: str = ""
    out_of_scope: bool = False

    @property
    def added(self) -> set[str]:
        """Every line that counts and was added."""
        return set[str]().union(*(file.added for file in self.files))

    @property
    def removed(self) -> set[str]:
        """Every line that counts and was removed."""
        return set[str]().union(*(file.removed for file in self.files))


def judge(changes: Sequence[Change], scope: Scope, later: Scope = Scope()) -> Footprint:
    """Decide which changes count for a unit.

    `scope` was declared before the commit. `later` is what the unit declares now; it sets the
    bounds only where nothing was declared before, because an agent may have written it.
    """
    if not changes:
        return Footprint(flaw="empty", why="the commit is empty")
    counting = [change for change in changes if _counts(change, scope)]
    if not counting:
        return _nothing_counts(changes)
    real = [change.file for change in counting if change.file.is_change]
    if not real:
        why = f"in {_describe(counting)} only comments, whitespace or order changed"
        return Footprint(flaw="cosmetic_only", why=why)
    bounds = scope if scope.is_declared else later
    if not bounds.is_declared:
        return Footprint(files=tuple(real))
    inside = [file for file in real if bounds.covers(file.path)]
    if not inside:
        expected = printable_path(", ".join(bounds.expected[:3]))
        why = f"it changed {printable_path(real[0].path)}, outside the unit's paths {expected}"
        return Footprint(files=tuple(real), out_of_scope=True, why=why)
    return Footprint(files=tuple(inside))


def only_stubs(names: str) -> Footprint:
    """The flaw of a commit that added nothing but bodies that do nothing yet."""
    return Footprint(flaw="stubs_only", why=f"only stubs were added, which do nothing yet: {names}")


def _nothing_counts(changes: Sequence[Change]) -> Footprint:
    """The flaw of a commit that changed only documents or bookkeeping."""
    kinds = {file_kinds.kind(change.path) for change in changes}
    only = f"only {_describe(changes)} changed"
    if kinds == {Kind.BOOKKEEPING}:
        return Footprint(flaw="bookkeeping_only", why=f"{only}, which every release touches")
    return Footprint(flaw="docs_only", why=f"{only}, and the unit is not about that")


def _counts(change: Change, scope: Scope) -> bool:
    """Whether a file is of the kind that a unit is about; a declared path always is."""
    if scope.is_declared and scope.covers(change.path):
        return True
    kind = file_kinds.kind(change.path)
    if kind is Kind.DOCS:
        return scope.purpose is Purpose.DOCS
    if kind is Kind.BOOKKEEPING or not change.is_text:
        return False
    return not change.path.lower().endswith(_LOCK_FILES)


def _describe(changes: Sequence[Change]) -> str:
    """Name the first path, and count the rest."""
    first = printable_path(changes[0].path)
    if len(changes) == 1:
        return first
    return f"{first} and {len(changes) - 1} more"
