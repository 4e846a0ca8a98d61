"""Do the tests ask for less than before?

The tests of a whole commit are weighed together: what was moved or renamed is not lost. A case, or an assertion, may go
with the code that it was about, when the commit says that it removes something and the code is gone.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.audit import test_cases
from dos.audit.test_cases import Assertion, Case, Grade, Suite
from dos.text import join_some
from dos.verify import file_kinds

_WORD = re.compile(r"[^\W\d]\w{2,}")
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|fun|function|struct|enum|interface|type|trait|module|object|record|const|let|var|val)\s+"
    r"(?:\([^)\n]*\)\s*)?([^\W\d]\w{2,})"
)
_NAMED = 3  # at most, in a detail


class WeakeningKind(StrEnum):
    FILE_DELETED = "test file deleted"
    CASES_REMOVED = "tests removed"
    ASSERTIONS_REMOVED = "assertions removed"
    ASSERTIONS_LOOSENED = "assertions loosened"
    TESTS_SKIPPED = "tests skipped"


class Weakening(Struct, frozen=True, kw_only=True):
    path: str
    what: WeakeningKind
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}: {self.detail}"


class TestChange(Struct, frozen=True, kw_only=True):
    """A test file before and after; None where it is not there, or is no test file."""

    __test__ = False

    path: str
    old: str | None
    new: str | None


_Placed = tuple[str, Case]  # a case, and the file that it is in
_Kept = tuple[str, Case, Case]  # the file that it is in now, what it was, what it is


def is_watched(path: str) -> bool:
    """Whether a path can hold tests that are read here; Rust keeps them beside the code."""
    return file_kinds.is_source(path) and (
        file_kinds.is_test(path) or selects_tests(path) or path.lower().endswith(".rs")
    )


def selects_tests(path: str) -> bool:
    """Whether a file says which tests are run."""
    return path.rpartition("/")[2] == "conftest.py"


def definitions(text: str) -> frozenset[str]:
    return frozenset(_DEFINED.findall(text))


def find(changes: Sequence[TestChange], gone: frozenset[str] = frozenset()) -> list[Weakening]:
    """What was weakened, by file; `gone` are the names of code that the commit removes, and says that it does."""
    old = {
        change.path: _read(change.path, change.old) for change in changes if change.old is not None
    }
    new = {
        change.path: _read(change.path, change.new)
        for change in changes
        if change.new is not None and _is_collected(change.path, old)
    }
    lost, gained, kept = _matched(old, new)
    rows = max(
        0, sum(suite.rows for suite in new.values()) - sum(suite.rows for suite in old.values())
    )
    deleted = {
        change.path: change.old
        for change in changes
        if change.old is not None and change.new is None
    }
    orphans = {path for path, text in deleted.items() if _mentions(text, gone)}
    missed, excused = list[_Placed](), list[Case]()
    for path, case in lost:
        if path in orphans or _mentions(case.text, gone):
            excused.append(case)
        else:
            missed.append((path, case))
    before, after = _asserted(old), _asserted(new)
    found = list(_removed(missed, deleted)) if _is_short(missed, gained, rows) else []
    found += _changed(kept, before - after, gone)
    found += _fewer_rows(kept, gained)
    found += _skipped(kept, old, new)
    texts, names = (
        {change.new for change in changes},
        {path.rpartition("/")[2] for path in new if path not in old},
    )
    moved = {
        path for path, text in deleted.items() if text in texts or path.rpartition("/")[2] in names
    }
    found += _emptied(
        {path: text for path, text in deleted.items() if path not in orphans | moved}, old
    )
    if not found:
        before.subtract(assertion for case in excused for assertion in case.assertions)
        shares = sum(len(suite.loose) for suite in new.values()) > sum(
            len(suite.loose) for suite in old.values()
        )
        found += _fewer(_without(before, gone), _without(after, gone), old, rows, shares=shares)
    return sorted(found, key=lambda each: (each.path, each.what))


def _is_collected(path: str, old: dict[str, Suite]) -> bool:
    """Whether runners that found the old files find this one: a new name has to be as much of a test's as theirs."""
    return (
        path in old
        or selects_tests(path)
        or file_kinds.is_named_test(path)
        or not any(map(file_kinds.is_named_test, old))
    )


def _read(path: str, text: str) -> Suite:
    suite = test_cases.read(path, text)
    if file_kinds.is_test(path) or selects_tests(path):
        return suite
    return Suite(
        cases=suite.cases
    )  # beside the code an assertion outside of the cases is the code's own


def _matched(
    old: dict[str, Suite], new: dict[str, Suite]
) -> tuple[list[_Placed], list[Case], list[_Kept]]:
    """Cases that are gone, that are new, and that are still there; by name, and first within their file."""
    waiting: dict[str, list[_Placed]] = {}
    for path, suite in new.items():
        for case in suite.cases:
            waiting.setdefault(case.name, []).append((path, case))
    lost, kept = list[_Placed](), list[_Kept]()
    for path, suite in old.items():
        for case in suite.cases:
            found = waiting.get(case.name) or []
            at = _nearest(path, found)
            if at is None:
                lost.append((path, case))
            else:
                there, now = found.pop(at)
                kept.append((there, case, now))
    return lost, [case for placed in waiting.values() for _, case in placed], kept


def _nearest(path: str, found: list[_Placed]) -> int | None:
    """Which of the cases of one name goes on: in the same file, or in one that is run as a test as much as it was."""
    for at, (there, _) in enumerate(found):
        if there == path:
            return at
    is_named = file_kinds.is_named_test(path)
    return next(
        (
            at
            for at, (there, _) in enumerate(found)
            if not is_named or file_kinds.is_named_test(there)
        ),
        None,
    )


def _is_short(missed: list[_Placed], gained: list[Case], rows: int) -> bool:
    """Whether fewer cases came than went; one that asserts nothing does not stand for one that did."""
    real = sum(not case.is_skipped and case.count(Grade.WEAK) > 0 for case in gained)
    asserting = sum(case.count(Grade.WEAK) > 0 for _, case in missed)
    return asserting > real + rows or len(missed) > len(gained) + rows


def _removed(missed: list[_Placed], deleted: Container[str]) -> Iterator[Weakening]:
    by_path: dict[str, list[str]] = {}
    for path, case in missed:
        by_path.setdefault(path, []).append(case.name)
    for path, names in by_path.items():
        what = WeakeningKind.FILE_DELETED if path in deleted else WeakeningKind.CASES_REMOVED
        yield Weakening(path=path, what=what, detail=join_some(names, _NAMED))


def _changed(
    kept: list[_Kept], lost: Counter[Assertion], gone: frozenset[str]
) -> Iterator[Weakening]:
    """Cases that are still there and ask for less, whatever was added elsewhere."""
    for path, old, new in kept:
        less = [
            assertion
            for assertion in old.assertions
            if assertion.grade > Grade.VACUOUS
            and lost[assertion]
            and not _mentions(assertion.text, gone)
        ]
        if less and (_is_looser(old, new) or not new.count(Grade.WEAK)):
            what = (
                WeakeningKind.ASSERTIONS_LOOSENED
                if new.assertions
                else WeakeningKind.ASSERTIONS_REMOVED
            )
            yield Weakening(path=path, what=what, detail=f"{new.name}: {less[0].text[:80]}")


def _is_looser(old: Case, new: Case) -> bool:
    """Strict assertions went, and laxer ones came in their place."""
    came = len(new.assertions) - len(old.assertions)
    strong, weak = (new.count(least) - old.count(least) for least in (Grade.STRONG, Grade.WEAK))
    return (strong < 0 and came > strong) or (weak < 0 and came > weak)


def _fewer_rows(kept: list[_Kept], gained: list[Case]) -> Iterator[Weakening]:
    """Tables over cases that lost rows, where none of the others won them."""
    missing = sum(old.rows - new.rows for _, old, new in kept) - sum(
        case.rows or 1 for case in gained
    )
    for path, old, new in kept:
        if missing > 0 and new.rows < old.rows:
            detail = f"{old.rows - new.rows} rows of {new.name}"
            yield Weakening(path=path, what=WeakeningKind.CASES_REMOVED, detail=detail)


def _skipped(
    kept: list[_Kept], old: dict[str, Suite], new: dict[str, Suite]
) -> Iterator[Weakening]:
    for path, was, case in kept:
        if case.is_skipped and not was.is_skipped:
            yield Weakening(path=path, what=WeakeningKind.TESTS_SKIPPED, detail=case.name)
    for path, suite in new.items():
        if (path in old or selects_tests(path)) and suite.wide_skips > old.get(
            path, Suite()
        ).wide_skips:
            yield Weakening(
                path=path, what=WeakeningKind.TESTS_SKIPPED, detail="a whole block or file"
            )


def _emptied(deleted: dict[str, str], old: dict[str, Suite]) -> Iterator[Weakening]:
    """Files named as tests that are gone, in a manner of testing that is not known here."""
    for path, text in deleted.items():
        if (
            text.strip()
            and not old[path].cases
            and (old[path].loose or file_kinds.is_named_test(path))
        ):
            yield Weakening(
                path=path, what=WeakeningKind.FILE_DELETED, detail="nothing took its place"
            )


def _fewer(
    before: Counter[Assertion],
    after: Counter[Assertion],
    old: dict[str, Suite],
    rows: int,
    *,
    shares: bool,
) -> Iterator[Weakening]:
    """Whether all tests together assert less, where no single case shows it."""
    for least in (Grade.STRONG, Grade.WEAK):
        missing = _count(before, least) - _count(after, least) - rows
        # Where the cases came to share assertions, each of them is written only once.
        if missing <= 0 or (shares and _distinct(after, least) >= _distinct(before, least)):
            continue
        path, text = _whose(before - after, old)
        what = (
            WeakeningKind.ASSERTIONS_LOOSENED
            if after.total() >= before.total()
            else WeakeningKind.ASSERTIONS_REMOVED
        )
        yield Weakening(path=path, what=what, detail=f"{missing} fewer: {text[:80]}")
        return


def _whose(lost: Counter[Assertion], old: dict[str, Suite]) -> tuple[str, str]:
    for path, suite in old.items():
        for assertion in _all(suite):
            if lost[assertion] and assertion.grade:
                return path, assertion.text
    return next(iter(old), ""), ""


def _asserted(tests: dict[str, Suite]) -> Counter[Assertion]:
    return Counter(assertion for suite in tests.values() for assertion in _all(suite))


def _without(lines: Counter[Assertion], gone: frozenset[str]) -> Counter[Assertion]:
    return Counter(
        {
            line: count
            for line, count in lines.items()
            if count > 0 and not _mentions(line.text, gone)
        }
    )


def _all(suite: Suite) -> Iterator[Assertion]:
    for case in suite.cases:
        yield from case.assertions
    yield from suite.loose


def _count(lines: Counter[Assertion], least: Grade) -> int:
    return sum(count for assertion, count in lines.items() if assertion.grade >= least)


def _distinct(lines: Counter[Assertion], least: Grade) -> int:
    return sum(assertion.grade >= least for assertion in lines)


def _mentions(text: str, gone: frozenset[str]) -> bool:
    return bool(gone) and not gone.isdisjoint(_WORD.findall(text))
