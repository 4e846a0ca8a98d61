"""Did a commit change anything that counts, and where it was meant to?"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos import regions
from dos.regions import Region
from dos.text import printable_path
from dos.verify import file_kinds as paths
from dos.verify.file_kinds import Kind
from dos.verify.survival import File

# Written by tools beside every change of a dependency.
_LOCKS = (
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
    """Where a unit said, before the commit, that its work would be."""

    title: str = ""
    paths: tuple[str, ...] = ()  # globs; empty: it did not say
    files: tuple[str, ...] = ()  # files that its text names, where it states no paths
    purpose: Purpose = Purpose.CODE
    acceptance: str = ""
    others: tuple[
        "Scope", ...
    ] = ()  # of further documents that declare it: the work has to lie in all of them

    @property
    def is_declared(self) -> bool:
        return bool(self.paths or self.files)

    @property
    def expected(self) -> tuple[str, ...]:
        return self.paths or self.files

    def covers(self, path: str) -> bool:
        if self.paths and not regions.lane_holds(self._region, path):
            return False
        if self.files and not any(path == file or path.endswith(f"/{file}") for file in self.files):
            return False
        return all(other.covers(path) for other in self.others)

    @property
    def _region(self) -> Region:
        return regions.region(self.paths)


class Change(Struct, frozen=True, kw_only=True):
    """One file of a commit's change. Of one that is not text, its hash is its only line."""

    file: File
    is_text: bool = True

    @property
    def path(self) -> str:
        return self.file.path


class Footprint(Struct, frozen=True, kw_only=True):
    """What of a change counts; when nothing does, the word for it."""

    files: tuple[File, ...] = ()
    flaw: str = ""  # empty, bookkeeping_only, docs_only, cosmetic_only
    why: str = ""
    out_of_scope: bool = False

    @property
    def added(self) -> set[str]:
        return {line for file in self.files for line in file.added}

    @property
    def removed(self) -> set[str]:
        return {line for file in self.files for line in file.removed}


def judge(changes: Sequence[Change], scope: Scope, later: Scope = Scope()) -> Footprint:
    if not changes:
        return Footprint(flaw="empty", why="the commit is empty")
    counting = [change for change in changes if _counts(change, scope)]
    if not counting:
        kinds = {paths.kind(change.path) for change in changes}
        if kinds == {Kind.BOOKKEEPING}:
            return Footprint(
                flaw="bookkeeping_only",
                why=f"only {_listed(changes)} changed, which every release touches",
            )
        return Footprint(
            flaw="docs_only", why=f"only {_listed(changes)} changed, and the unit is not about that"
        )
    real = [change.file for change in counting if change.file.is_change]
    if not real:
        return Footprint(
            flaw="cosmetic_only",
            why=f"in {_listed(counting)} only comments, whitespace or order changed",
        )
    bounds = scope if scope.is_declared else later
    inside = [file for file in real if bounds.covers(file.path)] if bounds.is_declared else real
    if not inside:
        where = ", ".join(bounds.expected[:3])
        why = (
            f"it changed {printable_path(real[0].path)}, and the unit is of {printable_path(where)}"
        )
        return Footprint(files=tuple(real), out_of_scope=True, why=why)
    return Footprint(files=tuple(inside))


def _counts(change: Change, scope: Scope) -> bool:
    """Whether a file is of the kind that a unit is about; whatever a unit declares, it is about."""
    if scope.is_declared and scope.covers(change.path):
        return True
    kind = paths.kind(change.path)
    if kind is Kind.DOCS:
        return scope.purpose is Purpose.DOCS
    return (
        kind is not Kind.BOOKKEEPING and change.is_text and not change.path.lower().endswith(_LOCKS)
    )


def _listed(changes: Sequence[Change]) -> str:
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return printable_path(changes[0].path) + more
