"""Do the tests ask for less than before?

The tests of a whole commit are weighed together: what was moved or renamed is not lost. A case, or an assertion, may go
with the code that it was about, when the commit says that it removes something and the code is gone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from dos.verdicts.commits import paths, suites
from dos.verdicts.commits.suites import Assertion, Case, Grade, Suite

_WORD = re.compile(r"[^\W\d]\w{2,}")
_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|fun|function|struct|enum|interface|type|trait|module|object|record|const|let|var|val)\s+"
    r"(?:\([^)\n]*\)\s*)?([^\W\d]\w{2,})"
)
_NAMED = 3  # at most, in a detail


class What(StrEnum):
    FILE_DELETED = "test file deleted"
    CASES_REMOVED = "tests removed"
    ASSERTIONS_REMOVED = "assertions removed"
    ASSERTIONS_LOOSENED = "assertions loosened"
    TESTS_SKIPPED = "tests skipped"


class Weakening(Struct, frozen=True, kw_only=True):
    path: str
    what: What
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}: {self.detail}"


class TestChange(Struct, frozen=True, kw_only=True):
    """A test file before and after; None where it is not there, or is no test file."""

    __test__ = False

    path: str
    old: str | None
    new: str | None


class _Lost(Struct, frozen=True):
    path: str
    case: Case


class _Kept(Struct, frozen=True):
    path: str
    old: Case
    new: Case


def is_watched(path: str) -> bool:
    """Whether a path can hold tests that are read here; Rust keeps them beside the code."""
    return paths.is_source(path) and (paths.is_test(path) or steers(path) or path.lower().endswith(".rs"))


def steers(path: str) -> bool:
    """Whether a file says which tests are run."""
    return path.rpartition("/")[2] == "conftest.py"


def definitions(text: str) -> frozenset[str]:
    return frozenset(_DEFINED.findall(text))


def find(changes: Sequence[TestChange], gone: frozenset[str] = frozenset()) -> list[Weakening]:
    """What was weakened, by file; `gone` are the names of code that the commit removes, and says that it does."""
    old = {change.path: _read(change.path, change.old) for change in changes if change.old is not None}
    new = {
        change.path: _read(change.path, change.new)
        for change in changes
        if change.new is not None and _is_collected(change.path, old)
    }
    lost, gained, kept = _matched(old, new)
    rows = max(0, sum(suite.rows for suite in new.values()) - sum(suite.rows for suite in old.values()))
    deleted = {change.path for change in changes if change.old is not None and change.new is None}
    orphans = {change.path for change in changes if change.path in deleted and _mentions(change.old or "", gone)}
    excused = [each for each in lost if each.path in orphans or _mentions(each.case.text, gone)]
    missed = [each for each in lost if each not in excused]
    is_short = _is_short(missed, gained, rows)
    found = list(_removed(missed, deleted)) if is_short else []
    found += _changed(kept, _lines(old.values()) - _lines(new.values()), gone)
    found += _fewer_rows(kept, gained)
    found += _skipped(kept, old, new)
    found += [each for each in _emptied(changes, old, new) if each.path not in orphans]
    if not found:
        aside = [each.case for each in excused]
        found += _fewer(old, new, aside, rows, gone)
    return sorted(found, key=lambda each: (each.path, each.what))


def _is_collected(path: str, old: dict[str, Suite]) -> bool:
    """Whether runners that found the old files find this one: a new name has to be as much of a test's as theirs."""
    return path in old or steers(path) or paths.is_named_test(path) or not any(map(paths.is_named_test, old))


def _read(path: str, text: str) -> Suite:
    suite = suites.read(path, text)
    if paths.is_test(path) or steers(path):
        return suite
    return Suite(cases=suite.cases)  # beside the code an assertion outside of the cases is the code's own


def _matched(old: dict[str, Suite], new: dict[str, Suite]) -> tuple[list[_Lost], list[Case], list[_Kept]]:
    """Cases that are gone, that are new, and that are still there; by name, and first within their file."""
    waiting: dict[str, list[_Lost]] = {}
    for path, suite in new.items():
        for case in suite.cases:
            waiting.setdefault(case.name, []).append(_Lost(path, case))
    lost, kept = [], []
    for path, suite in old.items():
        for case in suite.cases:
            found = waiting.get(case.name) or []
            at = _nearest(path, found)
            if at is not None:
                moved = found.pop(at)
                kept.append(_Kept(moved.path, case, moved.case))
            else:
                lost.append(_Lost(path, case))
    return lost, [each.case for cases in waiting.values() for each in cases], kept


def _nearest(path: str, found: list[_Lost]) -> int | None:
    """Which of the cases of one name goes on: in the same file, or in one that is run as a test as much as it was."""
    others = [at for at, each in enumerate(found) if paths.is_named_test(each.path) or not paths.is_named_test(path)]
    return next((at for at, each in enumerate(found) if each.path == path), others[0] if others else None)


def _is_short(missed: list[_Lost], gained: list[Case], rows: int) -> bool:
    """Whether fewer cases came than went; one that asserts nothing does not stand for one that did."""
    real = sum(not case.is_skipped and case.count(Grade.WEAK) > 0 for case in gained)
    asserting = sum(each.case.count(Grade.WEAK) > 0 for each in missed)
    return asserting > real + rows or len(missed) > len(gained) + rows


def _removed(missed: list[_Lost], deleted: set[str]) -> Iterator[Weakening]:
    by_path: dict[str, list[str]] = {}
    for each in missed:
        by_path.setdefault(each.path, []).append(each.case.name)
    for path, names in by_path.items():
        what = What.FILE_DELETED if path in deleted else What.CASES_REMOVED
        yield Weakening(path=path, what=what, detail=_named(names))


def _changed(kept: list[_Kept], lost: Counter[Assertion], gone: frozenset[str]) -> Iterator[Weakening]:
    """Cases that are still there and ask for less, whatever was added elsewhere."""
    for each in kept:
        less = [
            assertion
            for assertion in each.old.assertions
            if assertion.grade > Grade.VACUOUS and lost[assertion] and not _mentions(assertion.text, gone)
        ]
        if not less:
            continue
        if not each.new.count(Grade.WEAK):
            what = What.ASSERTIONS_LOOSENED if each.new.assertions else What.ASSERTIONS_REMOVED
        elif _is_looser(each.old, each.new):
            what = What.ASSERTIONS_LOOSENED
        else:
            continue
        yield Weakening(path=each.path, what=what, detail=f"{each.new.name}: {less[0].text[:80]}")


def _fewer_rows(kept: list[_Kept], gained: list[Case]) -> Iterator[Weakening]:
    """Tables over cases that lost rows, where none of the others won them."""
    missing = sum(each.old.rows - each.new.rows for each in kept) - sum(case.rows or 1 for case in gained)
    if missing <= 0:
        return
    for each in kept:
        if each.new.rows < each.old.rows:
            detail = f"{each.old.rows - each.new.rows} rows of {each.new.name}"
            yield Weakening(path=each.path, what=What.CASES_REMOVED, detail=detail)


def _is_looser(old: Case, new: Case) -> bool:
    """Strict assertions went, and laxer ones came in their place."""
    strong = new.count(Grade.STRONG) < old.count(Grade.STRONG)
    laxer = sum(assertion.grade < Grade.STRONG for assertion in new.assertions) > sum(
        assertion.grade < Grade.STRONG for assertion in old.assertions
    )
    vacuous = sum(not assertion.grade for assertion in new.assertions) > sum(
        not assertion.grade for assertion in old.assertions
    )
    return (strong and laxer) or (vacuous and new.count(Grade.WEAK) < old.count(Grade.WEAK))


def _skipped(kept: list[_Kept], old: dict[str, Suite], new: dict[str, Suite]) -> Iterator[Weakening]:
    for each in kept:
        if each.new.is_skipped and not each.old.is_skipped:
            yield Weakening(path=each.path, what=What.TESTS_SKIPPED, detail=each.new.name)
    for path, suite in new.items():
        if (path in old or steers(path)) and suite.wide_skips > (old[path].wide_skips if path in old else 0):
            yield Weakening(path=path, what=What.TESTS_SKIPPED, detail="a whole block or file")


def _emptied(changes: Sequence[TestChange], old: dict[str, Suite], new: dict[str, Suite]) -> Iterator[Weakening]:
    """Files named as tests that are gone, in a manner of testing that is not known here."""
    texts = {change.new for change in changes if change.new is not None}
    names = {path.rpartition("/")[2] for path in new if path not in old}
    for change in changes:
        if change.old is None or change.new is not None or not change.old.strip():
            continue
        is_moved = change.old in texts or change.path.rpartition("/")[2] in names
        suite = old[change.path]
        if not is_moved and not suite.cases and (suite.loose or paths.is_named_test(change.path)):
            yield Weakening(path=change.path, what=What.FILE_DELETED, detail="nothing took its place")


def _fewer(
    old: dict[str, Suite], new: dict[str, Suite], aside: list[Case], rows: int, gone: frozenset[str]
) -> Iterator[Weakening]:
    """Whether all tests together assert less, where no single case shows it."""
    before = _lines(old.values())
    before.subtract(assertion for case in aside for assertion in case.assertions)
    before = Counter({line: count for line, count in before.items() if count > 0 and not _mentions(line.text, gone)})
    after = _lines(new.values())
    after = Counter({line: count for line, count in after.items() if not _mentions(line.text, gone)})
    shares = sum(len(suite.loose) for suite in new.values()) > sum(len(suite.loose) for suite in old.values())
    for least in (Grade.STRONG, Grade.WEAK):
        missing = _count(before, least) - _count(after, least) - rows
        # Where the cases came to share assertions, each of them is written only once.
        if missing <= 0 or (shares and _distinct(after, least) >= _distinct(before, least)):
            continue
        path, text = _whose(before - after, old)
        has_laxer = _count(after, Grade.VACUOUS) >= _count(before, Grade.VACUOUS)
        what = What.ASSERTIONS_LOOSENED if has_laxer else What.ASSERTIONS_REMOVED
        yield Weakening(path=path, what=what, detail=f"{missing} fewer: {text[:80]}")
        return


def _whose(lost: Counter[Assertion], old: dict[str, Suite]) -> tuple[str, str]:
    for path, suite in old.items():
        for assertion in _all(suite):
            if lost[assertion] and assertion.grade:
                return path, assertion.text
    return next(iter(old), ""), ""


def _lines(tests: Iterable[Suite]) -> Counter[Assertion]:
    return Counter(assertion for suite in tests for assertion in _all(suite))


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


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
