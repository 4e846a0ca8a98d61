"""Find where a commit's tests check less than before.

Every case and every check that is gone has to be found again, wherever the commit put it: under
another name, in another file, in a helper, as a row of a table. What a commit adds does not make
good what it takes away. A case, or a check, may go with the code that it was about.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.audit.suites import comparison
from dos.audit.suites.cases import Case, Suite, is_read, read
from dos.audit.suites.comparison import Comparison
from dos.audit.suites.losses import Loss
from dos.text import join_some
from dos.verify import file_kinds

_NAMED = 3  # at most, in a detail
_LONGEST_TEXT = 80  # of a check in a detail
_RUN_BY_OTHERS = frozenset(
    ("tcl", "test", "bats", "t", "groovy", "coffee", "cr", "feature", "robot")
)


class WeakeningKind(StrEnum):
    """How tests were weakened, as `dos commit-audit` prints it."""

    FILE_DELETED = "test file deleted"
    CASES_REMOVED = "tests removed"
    ASSERTIONS_REMOVED = "assertions removed"
    ASSERTIONS_LOOSENED = "assertions loosened"
    TESTS_SKIPPED = "tests skipped"
    TESTS_NOT_RUN = "settings keep tests from running or failing"
    OUTPUT_REWRITTEN = "expected output rewritten"


class Weakening(Struct, frozen=True, kw_only=True):
    """One way in which the tests of a file were weakened."""

    path: str
    what: WeakeningKind
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}: {self.detail}"


class TestChange(Struct, frozen=True, kw_only=True):
    """A test file before and after; None where it is missing or not a test file."""

    __test__ = False  # pytest would collect a class of this name

    path: str
    old: str | None
    new: str | None


def is_watched(path: str) -> bool:
    """Whether a path can hold tests that are read here; Rust keeps them beside the code."""
    suffix = path.rpartition(".")[2].lower()
    if not file_kinds.is_source(path) and suffix not in _RUN_BY_OTHERS:
        return False
    return file_kinds.is_run_as_test(path) or selects_tests(path) or suffix == "rs"


def selects_tests(path: str) -> bool:
    """Whether a file decides which tests are run."""
    return _file_name(path) == "conftest.py"


def find(
    changes: Sequence[TestChange], removed_names: Callable[[], frozenset[str]] = frozenset
) -> list[Weakening]:
    """Return what was weakened, sorted by file.

    `removed_names` returns the names of code that the commit removes: tests about them may go. It
    is asked only if something is missing.
    """
    old: dict[str, Suite] = {}
    new: dict[str, Suite] = {}
    deleted: dict[str, str] = {}
    for change in changes:
        if change.old is not None:
            old[change.path] = _read(change.path, change.old)
            if change.new is None:
                deleted[change.path] = change.old
    for change in changes:
        if change.new is not None and _is_collected(change.path, old):
            new[change.path] = _read(change.path, change.new)
    compared = Comparison(old, new, deleted, removed_names)
    found = [
        *_removed_cases(compared.lost_cases(), deleted),
        *_hidden_cases(compared.hidden_cases()),
        *_weaker_checks(compared.losses()),
        *_fewer_rows(compared.lost_rows()),
        *_skipped(compared),
        *_deleted_files(deleted, changes, compared),
    ]
    unique = dict.fromkeys((each.path, each.what, each.detail) for each in found)
    ordered = sorted(unique, key=lambda key: (key[0], key[1]))
    return [Weakening(path=path, what=what, detail=detail) for path, what, detail in ordered]


def _is_collected(path: str, old: Mapping[str, Suite]) -> bool:
    """Whether a test runner that found the old files finds this one too.

    A new file has to be named as much like a test as they are.
    """
    if path in old or selects_tests(path) or file_kinds.is_named_test(path):
        return True
    return not any(map(file_kinds.is_named_test, old))


def _read(path: str, text: str) -> Suite:
    suite = read(path, text)
    if file_kinds.is_run_as_test(path) or selects_tests(path):
        return suite
    # In a source file an assertion outside of the cases belongs to the code.
    return Suite(path=path, cases=suite.cases)


def _removed_cases(lost: Iterable[Case], deleted: Mapping[str, str]) -> Iterator[Weakening]:
    """Report the missed cases by file, as one weakening each."""
    by_path: dict[str, list[str]] = {}
    for case in lost:
        by_path.setdefault(case.path, []).append(f"{case.name} (line {case.line})")
    for path, names in by_path.items():
        kind = WeakeningKind.CASES_REMOVED
        if path in deleted:
            kind = WeakeningKind.FILE_DELETED
        yield Weakening(path=path, what=kind, detail=join_some(names, _NAMED))


def _hidden_cases(hidden: Iterable[Case]) -> Iterator[Weakening]:
    for case in hidden:
        detail = f"{case.name} (line {case.line}) is hidden by a second function of that name"
        yield Weakening(path=case.path, what=WeakeningKind.CASES_REMOVED, detail=detail)


def _weaker_checks(losses: Iterable[tuple[str, str, Loss]]) -> Iterator[Weakening]:
    """Report the first weaker check of each case."""
    seen: set[tuple[str, str]] = set()
    for path, name, loss in losses:
        if (path, name) in seen:
            continue
        seen.add((path, name))
        kind = WeakeningKind.ASSERTIONS_REMOVED
        detail = f"{name}, line {loss.check.line}: {loss.check.text[:_LONGEST_TEXT]}"
        if loss.laxer is not None:
            kind = WeakeningKind.ASSERTIONS_LOOSENED
            detail += f" became {loss.laxer.text[:_LONGEST_TEXT]}"
        yield Weakening(path=path, what=kind, detail=detail)


def _fewer_rows(lost: Iterable[tuple[str, str, list[str]]]) -> Iterator[Weakening]:
    for path, name, rows in lost:
        shown = join_some([row[:_LONGEST_TEXT] for row in rows], 1)
        detail = f"{len(rows)} rows of {name}: {shown}"
        yield Weakening(path=path, what=WeakeningKind.CASES_REMOVED, detail=detail)


def _skipped(compared: Comparison) -> Iterator[Weakening]:
    """Report cases, and whole files, that ran before and are skipped now."""
    skipped = WeakeningKind.TESTS_SKIPPED
    for case in compared.skipped_cases():
        detail = f"{case.name} (line {case.line})"
        yield Weakening(path=case.path, what=skipped, detail=detail)
    for path, statement in compared.wide_skips(selects_tests):
        detail = f"a whole block or file, line {statement.line}: {statement.text[:_LONGEST_TEXT]}"
        yield Weakening(path=path, what=skipped, detail=detail)


def _deleted_files(
    deleted: Mapping[str, str], changes: Sequence[TestChange], compared: Comparison
) -> Iterator[Weakening]:
    """Find deleted files named as tests whose cases this module could not read.

    A file that was moved is not deleted, nor is one that is about removed code.
    """
    new_texts = {change.new for change in changes}
    new_names = {_file_name(path) for path in compared.new if path not in compared.old}
    for path, text in deleted.items():
        is_moved = text in new_texts or _file_name(path) in new_names
        suite = compared.old[path]
        if is_moved or not text.strip() or suite.cases:
            continue
        is_test = not is_read(path) and file_kinds.is_named_test(path)
        if (is_test or comparison.runs_checks(suite)) and path not in compared.orphans:
            kind = WeakeningKind.FILE_DELETED
            yield Weakening(path=path, what=kind, detail="nothing took its place")


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
