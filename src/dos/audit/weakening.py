"""Find where a commit's tests check less than before.

The tests of a whole commit are compared together, so that what was moved or renamed is not lost. A
case, or an assertion, may go with the code that it was about, if the commit says that it removes
something and the code is gone.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.audit import test_cases
from dos.audit.test_cases import Assertion, Case, Grade, Suite
from dos.text import join_some
from dos.verify import file_kinds

_WORD = re.compile(r"[^\W\d]\w{2,}")
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|fun|function|struct|enum|interface|type|trait|module|object|record"
    r"|const|let|var|val)\s+(?:\([^)\n]*\)\s*)?([^\W\d]\w{2,})"
)
_NAMED = 3  # at most, in a detail
_LONGEST_TEXT = 80  # of an assertion in a detail


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


class _PlacedCase(Struct, frozen=True):
    """A case and the file that it is in."""

    path: str
    case: Case


class _KeptCase(Struct, frozen=True):
    """A case that is still there: the file that it is in now, what it was, what it is."""

    path: str
    old: Case
    new: Case


class _Matching(Struct, frozen=True):
    """The cases before and after, matched by name."""

    lost: list[_PlacedCase]
    gained: list[Case]
    kept: list[_KeptCase]


def is_watched(path: str) -> bool:
    """Whether a path can hold tests that are read here; Rust keeps them beside the code."""
    if not file_kinds.is_source(path):
        return False
    return file_kinds.is_test(path) or selects_tests(path) or path.lower().endswith(".rs")


def selects_tests(path: str) -> bool:
    """Whether a file decides which tests are run."""
    return _file_name(path) == "conftest.py"


def definitions(text: str) -> frozenset[str]:
    """Return the names of functions, classes and variables that a source text defines."""
    return frozenset(_DEFINED.findall(text))


def find(
    changes: Sequence[TestChange], removed_names: frozenset[str] = frozenset()
) -> list[Weakening]:
    """Return what was weakened, sorted by file.

    `removed_names` are names of code that the commit removes and says so: tests about them may go.
    """
    return _Comparison(changes, removed_names).weakenings()


class _Comparison:
    """The tests of a commit before and after, with what the commit removes."""

    def __init__(self, changes: Sequence[TestChange], removed_names: frozenset[str]) -> None:
        self.changes = changes
        self.removed_names = removed_names
        self.old: dict[str, Suite] = {}
        self.new: dict[str, Suite] = {}
        self.deleted: dict[str, str] = {}
        for change in changes:
            if change.old is not None:
                self.old[change.path] = _read(change.path, change.old)
            if change.old is not None and change.new is None:
                self.deleted[change.path] = change.old
        for change in changes:
            if change.new is not None and _is_collected(change.path, self.old):
                self.new[change.path] = _read(change.path, change.new)
        # Deleted files about removed code.
        deleted = self.deleted.items()
        self.orphans = {path for path, text in deleted if _mentions(text, removed_names)}

    def weakenings(self) -> list[Weakening]:
        """Return what is weaker. A loss in sum is reported only if no case shows it."""
        matching = _match_cases(self.old, self.new)
        more_rows = max(0, _rows_in(self.new) - _rows_in(self.old))
        missed, excused = self._split_lost(matching.lost)
        before, after = _count_assertions(self.old), _count_assertions(self.new)
        found: list[Weakening] = []
        if _is_short(missed, matching.gained, more_rows):
            found += _removed_cases(missed, self.deleted)
        found += _weaker_cases(matching.kept, before - after, self.removed_names)
        found += _fewer_rows(matching.kept, matching.gained)
        found += _newly_skipped(matching.kept, self.old, self.new)
        found += _deleted_files(self._unexplained_deletions(), self.old)
        if not found:
            for case in excused:
                before.subtract(case.assertions)
            found += self._fewer_assertions(before, after, more_rows)
        return sorted(found, key=lambda weakening: (weakening.path, weakening.what))

    def _split_lost(self, lost: list[_PlacedCase]) -> tuple[list[_PlacedCase], list[Case]]:
        """Split lost cases into those that are missed, and those that went with their code."""
        missed: list[_PlacedCase] = []
        excused: list[Case] = []
        for placed in lost:
            if placed.path in self.orphans or _mentions(placed.case.text, self.removed_names):
                excused.append(placed.case)
            else:
                missed.append(placed)
        return missed, excused

    def _unexplained_deletions(self) -> dict[str, str]:
        """Return the deleted files that were neither moved nor about removed code."""
        new_texts = {change.new for change in self.changes}
        new_names = {_file_name(path) for path in self.new if path not in self.old}
        unexplained = {}
        for path, text in self.deleted.items():
            is_moved = text in new_texts or _file_name(path) in new_names
            if path not in self.orphans and not is_moved:
                unexplained[path] = text
        return unexplained

    def _fewer_assertions(
        self, before: Counter[Assertion], after: Counter[Assertion], more_rows: int
    ) -> list[Weakening]:
        """Find whether all tests together assert less, where no single case shows it."""
        before = _without_mentions(before, self.removed_names)
        after = _without_mentions(after, self.removed_names)
        is_sharing = _loose_assertions(self.new) > _loose_assertions(self.old)
        for least in (Grade.STRONG, Grade.WEAK):
            missing = _count(before, least) - _count(after, least) - more_rows
            if missing <= 0:
                continue
            # Where cases came to share assertions, each of them is written only once.
            if is_sharing and _distinct(after, least) >= _distinct(before, least):
                continue
            path, text = _first_lost(before - after, self.old)
            kind = WeakeningKind.ASSERTIONS_REMOVED
            if after.total() >= before.total():
                kind = WeakeningKind.ASSERTIONS_LOOSENED
            detail = f"{missing} fewer: {text[:_LONGEST_TEXT]}"
            return [Weakening(path=path, what=kind, detail=detail)]
        return []


def _is_collected(path: str, old: Mapping[str, Suite]) -> bool:
    """Whether a test runner that found the old files finds this one too.

    A new file has to be named as much like a test as they are.
    """
    if path in old or selects_tests(path) or file_kinds.is_named_test(path):
        return True
    return not any(map(file_kinds.is_named_test, old))


def _read(path: str, text: str) -> Suite:
    suite = test_cases.read(path, text)
    if file_kinds.is_test(path) or selects_tests(path):
        return suite
    # In a source file an assertion outside of the cases belongs to the code.
    return Suite(cases=suite.cases)


def _match_cases(old: Mapping[str, Suite], new: Mapping[str, Suite]) -> _Matching:
    """Match cases by name, first within their file."""
    waiting: dict[str, list[_PlacedCase]] = {}
    for path, suite in new.items():
        for case in suite.cases:
            waiting.setdefault(case.name, []).append(_PlacedCase(path, case))
    lost: list[_PlacedCase] = []
    kept: list[_KeptCase] = []
    for path, suite in old.items():
        for case in suite.cases:
            candidates = waiting.get(case.name) or []
            index = _nearest(path, candidates)
            if index is None:
                lost.append(_PlacedCase(path, case))
            else:
                match = candidates.pop(index)
                kept.append(_KeptCase(match.path, case, match.case))
    gained: list[Case] = []
    for candidates in waiting.values():
        gained += [placed.case for placed in candidates]
    return _Matching(lost, gained, kept)


def _nearest(path: str, candidates: list[_PlacedCase]) -> int | None:
    """Return which case of a name continues one of `path`.

    One in the same file, else one in a file that test runners find as well as they found it.
    """
    for index, candidate in enumerate(candidates):
        if candidate.path == path:
            return index
    is_named = file_kinds.is_named_test(path)
    for index, candidate in enumerate(candidates):
        if not is_named or file_kinds.is_named_test(candidate.path):
            return index
    return None


def _is_short(missed: list[_PlacedCase], gained: list[Case], more_rows: int) -> bool:
    """Whether fewer cases came than went; one without assertions replaces none that had some."""
    real = sum(not case.is_skipped and case.count(Grade.WEAK) > 0 for case in gained)
    asserting = sum(placed.case.count(Grade.WEAK) > 0 for placed in missed)
    return asserting > real + more_rows or len(missed) > len(gained) + more_rows


def _removed_cases(missed: list[_PlacedCase], deleted: Container[str]) -> Iterator[Weakening]:
    """Report the missed cases by file, as one weakening each."""
    by_path: dict[str, list[str]] = {}
    for placed in missed:
        by_path.setdefault(placed.path, []).append(placed.case.name)
    for path, names in by_path.items():
        kind = WeakeningKind.CASES_REMOVED
        if path in deleted:
            kind = WeakeningKind.FILE_DELETED
        yield Weakening(path=path, what=kind, detail=join_some(names, _NAMED))


def _weaker_cases(
    kept: list[_KeptCase], lost: Counter[Assertion], removed_names: frozenset[str]
) -> Iterator[Weakening]:
    """Find cases that are still there and check less, whatever was added elsewhere."""
    for pair in kept:
        text = _lost_assertion(pair.old, lost, removed_names)
        if text is None:
            continue
        if _is_looser(pair.old, pair.new) or not pair.new.count(Grade.WEAK):
            kind = WeakeningKind.ASSERTIONS_REMOVED
            if pair.new.assertions:
                kind = WeakeningKind.ASSERTIONS_LOOSENED
            detail = f"{pair.new.name}: {text[:_LONGEST_TEXT]}"
            yield Weakening(path=pair.path, what=kind, detail=detail)


def _lost_assertion(
    case: Case, lost: Counter[Assertion], removed_names: frozenset[str]
) -> str | None:
    """Return the first assertion of a case that could fail, was lost, and is not excused."""
    for assertion in case.assertions:
        if assertion.grade == Grade.VACUOUS or not lost[assertion]:
            continue
        if not _mentions(assertion.text, removed_names):
            return assertion.text
    return None


def _is_looser(old: Case, new: Case) -> bool:
    """Whether strict assertions went and laxer ones came in their place."""
    more = len(new.assertions) - len(old.assertions)
    strong = new.count(Grade.STRONG) - old.count(Grade.STRONG)
    weak = new.count(Grade.WEAK) - old.count(Grade.WEAK)
    return (strong < 0 and more > strong) or (weak < 0 and more > weak)


def _fewer_rows(kept: list[_KeptCase], gained: list[Case]) -> Iterator[Weakening]:
    """Find tables over cases that lost rows, where no other case gained them."""
    lost = sum(pair.old.rows - pair.new.rows for pair in kept)
    won = sum(case.rows or 1 for case in gained)
    if lost <= won:
        return
    for pair in kept:
        if pair.new.rows < pair.old.rows:
            detail = f"{pair.old.rows - pair.new.rows} rows of {pair.new.name}"
            yield Weakening(path=pair.path, what=WeakeningKind.CASES_REMOVED, detail=detail)


def _newly_skipped(
    kept: list[_KeptCase], old: Mapping[str, Suite], new: Mapping[str, Suite]
) -> Iterator[Weakening]:
    """Find cases, and whole files, that ran before and are skipped now."""
    skipped = WeakeningKind.TESTS_SKIPPED
    for pair in kept:
        if pair.new.is_skipped and not pair.old.is_skipped:
            yield Weakening(path=pair.path, what=skipped, detail=pair.new.name)
    for path, suite in new.items():
        if path not in old and not selects_tests(path):
            continue
        if suite.wide_skips > old.get(path, Suite()).wide_skips:
            yield Weakening(path=path, what=skipped, detail="a whole block or file")


def _deleted_files(deleted: Mapping[str, str], old: Mapping[str, Suite]) -> Iterator[Weakening]:
    """Find deleted files named as tests whose cases this module could not read."""
    for path, text in deleted.items():
        suite = old[path]
        if not text.strip() or suite.cases:
            continue
        if suite.loose or file_kinds.is_named_test(path):
            kind = WeakeningKind.FILE_DELETED
            yield Weakening(path=path, what=kind, detail="nothing took its place")


def _first_lost(lost: Counter[Assertion], old: Mapping[str, Suite]) -> tuple[str, str]:
    """Return the file and the text of the first assertion that was lost."""
    for path, suite in old.items():
        for assertion in _all_assertions(suite):
            if lost[assertion] and assertion.grade:
                return path, assertion.text
    return next(iter(old), ""), ""


def _count_assertions(tests: Mapping[str, Suite]) -> Counter[Assertion]:
    counts: Counter[Assertion] = Counter()
    for suite in tests.values():
        counts.update(_all_assertions(suite))
    return counts


def _without_mentions(
    counts: Counter[Assertion], removed_names: frozenset[str]
) -> Counter[Assertion]:
    """Return the counts without assertions about removed code."""
    kept: Counter[Assertion] = Counter()
    for assertion, count in counts.items():
        if count > 0 and not _mentions(assertion.text, removed_names):
            kept[assertion] = count
    return kept


def _all_assertions(suite: Suite) -> Iterator[Assertion]:
    for case in suite.cases:
        yield from case.assertions
    yield from suite.loose


def _rows_in(tests: Mapping[str, Suite]) -> int:
    return sum(suite.rows for suite in tests.values())


def _loose_assertions(tests: Mapping[str, Suite]) -> int:
    return sum(len(suite.loose) for suite in tests.values())


def _count(counts: Counter[Assertion], least: Grade) -> int:
    return sum(count for assertion, count in counts.items() if assertion.grade >= least)


def _distinct(counts: Counter[Assertion], least: Grade) -> int:
    return sum(assertion.grade >= least for assertion in counts)


def _mentions(text: str, names: frozenset[str]) -> bool:
    return bool(names) and not names.isdisjoint(_WORD.findall(text))


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
