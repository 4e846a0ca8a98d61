"""Decide whether a commit changed anything that counts for its unit, and inside its scope.

Documents, bookkeeping, lock files, versions of the project, modes, moves and cosmetic changes do
not count, unless the unit is about them: they are what an agent can change without doing the work.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, structs

from dos import regions
from dos.regions import Region
from dos.text import printable_path
from dos.verify import file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.survival import File


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

    def names(self, path: str) -> bool:
        """Whether the unit declares this very file, and not only a glob that covers it."""
        return path in self.paths or any(
            path == file or path.endswith(f"/{file}") for file in self.files
        )

    @property
    def _region(self) -> Region:
        return regions.region(self.paths)


class Change(Struct, frozen=True, kw_only=True):
    """One file of a commit's change. A file that is not text has its hash as its only line."""

    file: File
    old_path: str = ""  # its path before it was moved; else empty
    is_text: bool = True
    is_submodule: bool = False
    leads_somewhere: bool = False  # a symbolic link to something in the same tree
    is_script: bool = False  # it is meant to be run by its name
    is_plan: bool = False  # a plan document of the workspace

    @property
    def path(self) -> str:
        """The path after the change."""
        return self.file.path

    @property
    def has_new_mode(self) -> bool:
        """Whether the file was there before with another mode."""
        modes = {self.file.old_mode, self.file.new_mode}
        return len(modes) == 2 and "" not in modes

    @property
    def is_move_alone(self) -> bool:
        """Whether the file is in another place and says the same as before."""
        return bool(self.old_path) and self.file.old == self.file.new


class Footprint(Struct, frozen=True, kw_only=True):
    """The files of a commit that count for its unit; or a flaw and the reason if none does."""

    files: tuple[File, ...] = ()
    flaw: str = ""  # empty, bookkeeping_only, docs_only, cosmetic_only, stubs_only, dead_code_only
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


def judge(
    changes: Sequence[Change], scope: Scope, later: Scope = Scope(), subject: str = ""
) -> Footprint:
    """Decide which changes count for a unit.

    `scope` was declared before the commit. `later` is what the unit declares now; it sets the
    bounds only where nothing was declared before, because an agent may have written it. `subject`
    is the commit's own.
    """
    if not changes:
        return Footprint(flaw="empty", why="the commit is empty")
    title = request_title(scope, later, subject)
    counting = [change for change in changes if _counts(change, scope, title)]
    if not counting:
        return _nothing_counts(changes)
    files = [_file_that_counts(change, scope, title) for change in counting]
    real = [file for file in files if file.is_change]
    if not real:
        return _nothing_real(counting, files)
    if _is_only_moved(real, title):
        why = f"the lines of {_describe(counting)} only moved from one file to another"
        return Footprint(flaw="cosmetic_only", why=why)
    bounds = scope if scope.is_declared else later
    if not bounds.is_declared:
        return Footprint(files=tuple(real))
    inside = [file for file in real if _is_inside(bounds, file)]
    if not inside:
        expected = printable_path(", ".join(bounds.expected[:3]))
        why = f"it changed {printable_path(real[0].path)}, outside the unit's paths {expected}"
        return Footprint(files=tuple(real), out_of_scope=True, why=why)
    return Footprint(files=tuple(inside))


def request_title(scope: Scope, later: Scope, subject: str) -> str:
    """The text that says what a unit asks for: the commit's own subject only if no plan does."""
    return scope.title or later.title or subject


def only_stubs(names: str) -> Footprint:
    """The flaw of a commit that added nothing but bodies that do nothing yet."""
    return Footprint(flaw="stubs_only", why=f"only stubs were added, which do nothing yet: {names}")


def copied(paths: Sequence[str], source: str) -> Footprint:
    """The flaw of a commit that only added copies; the first is one of `source`."""
    why = f"{_describe_paths(paths)} only copies what was there before ({printable_path(source)})"
    return Footprint(flaw="cosmetic_only", why=why)


def restored(paths: Sequence[str]) -> Footprint:
    """The flaw of a commit that only put back what an earlier one had taken out."""
    why = f"{_describe_paths(paths)} was there before, and was only put back"
    return Footprint(flaw="cosmetic_only", why=why)


def _nothing_counts(changes: Sequence[Change]) -> Footprint:
    """The flaw of a commit that changed only documents or bookkeeping."""
    only = f"only {_describe(changes)} changed"
    if all(map(_is_ledger, changes)):
        return Footprint(flaw="bookkeeping_only", why=f"{only}, which is about the work")
    if all(map(_is_bookkeeping, changes)):
        return Footprint(flaw="bookkeeping_only", why=f"{only}, which every release touches")
    return Footprint(flaw="docs_only", why=f"{only}, and the unit is not about that")


def _nothing_real(counting: Sequence[Change], files: Sequence[File]) -> Footprint:
    """The flaw of a commit whose changes mean nothing, though the files could count."""
    if any(file.is_version_alone for file in files):
        why = f"in {_describe(counting)} only the project's version changed"
        return Footprint(flaw="bookkeeping_only", why=f"{why}, as in every release")
    if any(change.has_new_mode for change in counting):
        why = f"of {_describe(counting)} only the mode changed, and the unit is not about that"
    elif any(change.is_move_alone for change in counting):
        why = f"{_describe(counting)} only moved, and the unit is not about that"
    else:
        why = f"in {_describe(counting)} only comments or layout changed"
    return Footprint(flaw="cosmetic_only", why=why)


def _is_inside(bounds: Scope, file: File) -> bool:
    """Whether a file is in the unit's paths, or was moved out of them as the unit asks."""
    return bounds.covers(file.path) or bool(file.moved_from and bounds.covers(file.moved_from))


def _is_ledger(change: Change) -> bool:
    """Whether a file is about the work of units, and no work itself."""
    return change.is_plan or file_kinds.is_ledger(change.path)


def _is_bookkeeping(change: Change) -> bool:
    return change.is_plan or file_kinds.kind(change.path) is Kind.BOOKKEEPING


def _counts(change: Change, scope: Scope, title: str) -> bool:
    """Whether a file is of the kind that a unit is about; a declared path always is."""
    if _is_ledger(change):
        return scope.names(change.path)
    if scope.is_declared and scope.covers(change.path):
        return True
    kind = file_kinds.kind(change.path)
    if kind is Kind.DOCS:
        return scope.purpose is Purpose.DOCS
    if kind is Kind.BOOKKEEPING:
        return False
    if change.is_text and not file_kinds.is_lock_file(change.path):
        return True
    return _is_asked_for(change, title)


def _is_asked_for(change: Change, title: str) -> bool:
    """Whether the title asks for a submodule, a link, or another version of a dependency."""
    from dos.verify.work.request import Request  # at use: most commits change code

    request = Request(title)
    if change.is_submodule:
        return request.is_for_submodule
    if not change.is_text:
        return change.leads_somewhere and request.is_for_link(change.path)
    changed = (*change.file.added, *change.file.removed)
    return request.is_for_locked(changed, change.file.new or ())


def _file_that_counts(change: Change, scope: Scope, title: str) -> File:
    """The file of a change with what of it is work for the unit: lines, mode, place."""
    file = change.file
    if change.is_move_alone and _asks_for_move(title):
        return structs.replace(file, old=None, moved_from=change.old_path)
    if _is_mode_work(change, scope, title):
        file = structs.replace(file, counts_mode=True)
    if _is_wanted_without_lines(change, scope, title):
        file = structs.replace(file, counts_presence=True)
    ignored = _own_version(file, scope, title) | _lines_of_commas(file)
    if not ignored:
        return file
    return structs.replace(file, ignored=ignored)


def _asks_for_move(title: str) -> bool:
    from dos.verify.work.request import Request

    return Request(title).is_for_move


def _is_mode_work(change: Change, scope: Scope, title: str) -> bool:
    """Whether a file may be executed now, or not any more, and the unit asks for that."""
    if not change.has_new_mode or not change.is_text:
        return False
    from dos.verify.work.request import Request

    if change.is_script and scope.names(change.path):
        return True
    return Request(title).is_for_mode(change.path)


def _is_wanted_without_lines(change: Change, scope: Scope, title: str) -> bool:
    """Whether a new file without significant lines is what the unit asks for."""
    if change.file.old is not None or change.file.new is None or change.file.new:
        return False
    from dos.verify.work.request import Request

    return Request(title).is_for_empty_file(change.path, is_declared=scope.names(change.path))


def _own_version(file: File, scope: Scope, title: str) -> frozenset[str]:
    """The lines that state the project's own version, unless the unit is about that."""
    changed = (*file.added, *file.removed)
    if not any("version" in line.lower() or "__" in line for line in changed):
        return frozenset()
    from dos.verify.work import own_version, request

    if scope.names(file.path) or (scope.title and request.Request(title).is_for_release):
        return frozenset()
    return own_version.own_version_lines(file.path, file.old or (), file.new or ())


def _lines_of_commas(file: File) -> frozenset[str]:
    """The lines of JSON that gained or lost a comma, because an entry below them came or went."""
    if not file.path.lower().endswith((".json", ".jsonc", ".json5")):
        return frozenset()
    removed = {line.rstrip(",") for line in file.removed}
    same = removed & {line.rstrip(",") for line in file.added}
    return frozenset(same | {f"{line}," for line in same})


def _is_only_moved(files: Sequence[File], title: str) -> bool:
    """Whether lines went from some files to others, none came or went, and nobody asked for it."""
    if len(files) < 2:
        return False
    added: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for file in files:
        if file.counts_mode or file.moved_from:
            return False
        for line, count in file.added.items():
            added[line.strip()] += count
        for line, count in file.removed.items():
            removed[line.strip()] += count
    if added != removed:
        return False
    from dos.verify.work.request import Request

    return not Request(title).may_be_about_places


def _describe_paths(paths: Sequence[str]) -> str:
    """Name the first path, and count the rest."""
    first = printable_path(paths[0])
    if len(paths) == 1:
        return first
    return f"{first} and {len(paths) - 1} more"


def _describe(changes: Sequence[Change]) -> str:
    """Name the first file, and count the rest."""
    return _describe_paths([change.path for change in changes])
