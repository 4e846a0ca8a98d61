"""Compares the tests of a commit before and after: what is lost, laxer, or no longer run."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from dos.audit.suites import checks, functions, losses, matching, skips, strictness
from dos.audit.suites.cases import Case, Suite
from dos.audit.suites.losses import Body, Loss, Pool
from dos.audit.suites.matching import Matching, Weights
from dos.audit.suites.row_losses import RowComparison
from dos.audit.suites.statements import Statement, suffix_of

_WORD = re.compile(r"[^\W\d]\w{2,}")
# What is called of the same file, and of something else: `check(x)`, `self.check(x)`; `a.check(x)`.
_OWN_NAME = re.compile(r"(?<![\w.])(?:(?:self|cls|this)\.)?([^\W\d]\w{2,})")
_ATTRIBUTE = re.compile(r"\.([^\W\d]\w{2,})")
_MOCKS = re.compile(r"\b(?:patch|mock|Mock|stub|stubs|spy|spyOn|allow|setattr|when|doReturn)\b")
_LONGEST_BODY = 2000  # statements of a case with its helpers
_FOUND_AGAIN = 0.6  # of what a lost case is about, in what the commit adds
_SAME_NAMES_IN_PLACE = 0.4  # where the table stands where the case stood
_SAME_NAMES = 0.5  # of what a case is about, in the table that it became a row of


def mentions(text: str, names: frozenset[str]) -> bool:
    """Whether a text contains one of the names."""
    return bool(names) and not names.isdisjoint(_WORD.findall(text))


def runs_checks(suite: Suite) -> bool:
    """Whether a file without cases checks something when it is run, and not only when called."""
    suffix = suffix_of(suite.path)
    for name, body in functions.owned(suite.loose).items():
        is_run = not name or functions.SHARED.match(name)
        if is_run and checks.of(suffix, body, frozenset()):
            return True
    return False


class Comparison:
    """The suites of a commit before and after, by path.

    `deleted` are the texts of files that are gone; `find_removed` returns names of code that is.
    """

    def __init__(
        self,
        old: Mapping[str, Suite],
        new: Mapping[str, Suite],
        deleted: Mapping[str, str],
        find_removed: Callable[[], frozenset[str]],
    ) -> None:
        self.old = old
        self.new = new
        self.deleted = deleted
        self.find_removed = find_removed

    @cached_property
    def removed_names(self) -> frozenset[str]:
        """The names of code that is gone."""
        return self.find_removed()

    @cached_property
    def orphans(self) -> frozenset[str]:
        """The deleted files that are about such code."""
        names = self.removed_names
        return frozenset(path for path, text in self.deleted.items() if mentions(text, names))

    @cached_property
    def matching(self) -> Matching:
        """The cases that differ."""
        return matching.match(self.old, self.new, lambda: self.weights)

    @cached_property
    def helpers(self) -> frozenset[str]:
        """The names of functions outside of the cases that check something."""
        names: set[str] = set()
        for suite in (*self.old.values(), *self.new.values()):
            suffix = suffix_of(suite.path)
            for name, body in functions.owned(suite.loose).items():
                if name and checks.of(suffix, body[1:], frozenset()):
                    names.add(name)
        return frozenset(names)

    @cached_property
    def pool(self) -> Pool:
        """The checks that cases and helpers gained."""
        pool = Pool()
        for case in self.matching.gained:
            if not skips.is_skipped(case):
                pool.add((), self._body(case).real_checks)
        for pair in self.matching.kept:
            if not skips.is_skipped(pair.new):
                pool.add(self._body(pair.old).checks, self._body(pair.new).real_checks)
        for path in {**self.old, **self.new}:
            suffix = suffix_of(path)
            before, after = self._loose(path)
            for name, body in after.items():
                if self._is_called(name, path):
                    old = checks.of(suffix, before.get(name, ()), self.helpers)
                    new = checks.of(suffix, body, self.helpers)
                    pool.add(old, new, is_shared=bool(name))
        return pool

    @cached_property
    def called(self) -> Counter[str]:
        """The names that the new suites write, and how often; not those of what belongs to others.

        `shop.name()` does not call a function `name` of the same file.
        """
        words: Counter[str] = Counter()
        for suite in self.new.values():
            for statement in _statements(suite):
                words.update(_OWN_NAME.findall(statement.masked))
        return words

    @cached_property
    def attributes(self) -> dict[str, set[str]]:
        """The names that each new suite calls of something else, such as an imported module."""
        names: dict[str, set[str]] = {}
        for path, suite in self.new.items():
            names[path] = set()
            for statement in _statements(suite):
                names[path].update(_ATTRIBUTE.findall(statement.masked))
        return names

    @cached_property
    def weights(self) -> Weights:
        """How much each word tells about a case."""
        new = [suite for path, suite in self.new.items() if path not in self.old]
        return Weights((*self.old.values(), *new))

    @cached_property
    def rows(self) -> RowComparison:
        """The tables that cases are run over."""
        return RowComparison(self.old, self.new, self.matching)

    @cached_property
    def added_words(self) -> frozenset[str]:
        """What the statements that the commit adds to tests are about."""
        words: set[str] = set()
        for case in self.matching.gained:
            words |= matching.name_words(case.name)
        for statement in self.added:
            words |= strictness.words(statement.text)
        return frozenset(words)

    @cached_property
    def added(self) -> tuple[Statement, ...]:
        """The statements that the commit adds to tests."""
        return tuple(self._added())

    def lost_cases(self) -> list[Case]:
        """Return the cases that are found nowhere, and did not go with their code."""
        lost: list[Case] = []
        room: int | None = None
        for case in self.matching.lost:
            if skips.is_skipped(case) or self._is_found_again(case):
                continue
            if case.path in self.orphans or self._is_about_removed(case):
                continue
            if room is None:
                room = self._new_rows()
            calls = self._like_calls(case)
            if room >= calls and self._is_like_a_table(case):
                room -= calls
                continue
            lost.append(case)
        return lost

    def hidden_cases(self) -> Iterator[Case]:
        """Yield the cases that a second function of their name hides now."""
        for path, suite in self.new.items():
            before = self.old.get(path, Suite())
            known = {case.name for case in before.cases} - {case.name for case in before.hidden}
            for case in suite.hidden:
                if case.name in known:
                    yield case

    def losses(self) -> Iterator[tuple[str, str, Loss]]:
        """Yield the checks that are gone or laxer, with the file and the case or helper."""
        for pair in self.matching.kept:
            if skips.is_skipped(pair.old) or skips.is_skipped(pair.new):
                continue
            old, new = self._body(pair.old), self._new_body(pair.new)
            for loss in losses.find(old, new, self.pool):
                if not mentions(loss.check.text, self.removed_names):
                    yield pair.new.path, pair.new.name, loss
        for path in self.old:
            if path in self.new:
                yield from self._loose_losses(path)

    def lost_rows(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield the rows that tables lost, with the file and the case that they are of."""
        for pair in self.matching.kept:
            rows = self._not_excused(self.rows.missing_in(pair, self.added))
            if rows:
                yield pair.new.path, pair.new.name, rows
        for path, suite in self.old.items():
            after = self.new.get(path, suite).loose
            if suite.loose == after:
                continue
            rows = self._not_excused(self.rows.missing(suite.loose, after, self.added))
            if rows:
                yield path, "a table", rows

    def _not_excused(self, rows: list[str]) -> list[str]:
        return [row for row in rows if not mentions(row, self.removed_names)]

    def skipped_cases(self) -> Iterator[Case]:
        """Yield the cases that are skipped now."""
        for pair in self.matching.kept:
            if skips.is_skipped(pair.new) and not skips.is_skipped(pair.old):
                yield pair.new

    def wide_skips(self, selects: Callable[[str], bool]) -> Iterator[tuple[str, Statement]]:
        """Yield the first new statement of each file that keeps other cases from running."""
        for path, suite in self.new.items():
            if path not in self.old and not selects(path):
                continue
            before = Counter(each.text for each in _statements(self.old.get(path, Suite())))
            loose = set(map(id, suite.loose))
            for statement in _statements(suite):
                if before[statement.text] > 0:
                    before[statement.text] -= 1
                    continue
                is_mark = id(statement) in loose and skips.is_skip_mark(statement)
                if is_mark or skips.skips_widely(statement):
                    yield path, statement
                    break

    def _body(self, case: Case) -> Body:
        suffix = suffix_of(case.path)
        told = (*case.marks, *case.body)
        return Body(told, checks.of(suffix, told, self.helpers))

    def _new_body(self, case: Case) -> Body:
        """Return a case with what is in the new helpers that it calls."""
        told = [*case.marks, *case.body]
        for statement in case.body:
            for name in _WORD.findall(statement.masked):
                told += self.new_helpers.get(name, ())
            if len(told) > _LONGEST_BODY:
                break
        return Body(told, checks.of(suffix_of(case.path), told, self.helpers))

    @cached_property
    def new_helpers(self) -> dict[str, list[Statement]]:
        """The functions outside of cases that came with the commit."""
        before: set[str] = set()
        for suite in self.old.values():
            before.update(functions.owned(suite.loose))
        came: dict[str, list[Statement]] = {}
        for suite in self.new.values():
            for name, body in functions.owned(suite.loose).items():
                if name not in before:
                    came[name] = body[1:]
        return came

    def _loose(self, path: str) -> tuple[dict[str, list[Statement]], dict[str, list[Statement]]]:
        """Return the functions outside of the cases of a file before and after, if they differ."""
        old, new = self.old.get(path, Suite()).loose, self.new.get(path, Suite()).loose
        if [each.text for each in old] == [each.text for each in new]:
            return {}, {}
        return functions.owned(old), functions.owned(new)

    def _loose_losses(self, path: str) -> Iterator[tuple[str, str, Loss]]:
        suffix = suffix_of(path)
        before, after = self._loose(path)
        for name, body in before.items():
            if name not in after:
                continue
            old = Body(body, checks.of(suffix, body, self.helpers))
            new = Body(after[name], checks.of(suffix, after[name], self.helpers))
            for loss in losses.find(old, new, self.pool):
                if not mentions(loss.check.text, self.removed_names):
                    yield path, name or "outside of the cases", loss

    def _is_called(self, name: str, path: str) -> bool:
        """Whether a function of a file is called by another, or by the test runner."""
        if not name or self.called[name] > 1 or functions.SHARED.match(name):
            return True
        return any(name in names for other, names in self.attributes.items() if other != path)

    def _is_about_removed(self, case: Case) -> bool:
        """Whether a case uses code that is gone. What it replaces by a mock it does not test."""
        if not self.removed_names:
            return False
        if mentions(" ".join(strictness.parts_of_name(case.name)), self.removed_names):
            return True
        for statement in (*case.marks, *case.body):
            if mentions(statement.text, self.removed_names) and not _MOCKS.search(statement.masked):
                return True
        return False

    def _is_found_again(self, case: Case) -> bool:
        """Whether a case was merged into others or split: what it is about and checks is there."""
        words = self.weights.words(case)
        if self.weights.share(words, self.added_words) < _FOUND_AGAIN:
            return False
        for check in self._body(case).real_checks:
            ours = strictness.words(check.text)
            if not self.pool.take(check) and not ours <= self.added_words:
                return False
        return True

    def _new_rows(self) -> int:
        """Return how many rows the tables of the commit have gained."""
        count = 0
        for case in self.matching.gained:
            count += len(self.rows.of(case))
        for pair in self.matching.kept:
            count += max(0, len(self.rows.of(pair.new)) - len(self.rows.of(pair.old)))
        return count

    def _like_calls(self, case: Case) -> int:
        """Return how many rows a case makes: as many as it has checks that differ in values."""
        shapes = Counter(strictness.shape(check) for check in self._body(case).real_checks)
        return max(shapes.values(), default=1)

    def _is_like_a_table(self, case: Case) -> bool:
        """Whether a new or changed case with a table names what a lost case named."""
        ours = self.weights.words(case)
        for table in (*self.matching.gained, *[pair.new for pair in self.matching.kept]):
            if not self.rows.of(table):
                continue
            theirs = self.weights.words(table)
            if self.weights.share(ours, theirs) >= _SAME_NAMES:
                return True
            is_alike = len(ours & theirs) >= _SAME_NAMES_IN_PLACE * len(ours)
            if is_alike and self._is_in_place(case, table):
                return True
        return False

    def _is_in_place(self, lost: Case, new: Case) -> bool:
        """Whether a new case stands where another one stood: after the same case, in one file."""
        if lost.path != new.path or new.path not in self.new:
            return False
        before, after = self.old[lost.path].cases, self.new[new.path].cases
        names = {case.name for case in before} & {case.name for case in after}
        return _name_before(lost, before, names) == _name_before(new, after, names)

    def _added(self) -> Iterator[Statement]:
        """Yield the statements of the new suites that the old ones do not have.

        Those of lost cases are looked for, and count as added where they are found. What nobody
        calls is not there.
        """
        known: Counter[str] = Counter()
        for suite in self.old.values():
            known.update(each.text for each in _statements(suite))
        for case in self.matching.lost:
            known.subtract(each.text for each in (*case.marks, *case.body))
        for suite in self.new.values():
            for statement in self._run_statements(suite):
                if known[statement.text] > 0:
                    known[statement.text] -= 1
                else:
                    yield statement

    def _run_statements(self, suite: Suite) -> Iterator[Statement]:
        """Yield the statements of a suite without those of functions that nobody calls."""
        for case in suite.cases:
            yield from case.marks
            yield from case.body
        for name, body in functions.owned(suite.loose).items():
            if self._is_called(name, suite.path):
                yield from body


def _name_before(case: Case, cases: Iterable[Case], names: set[str]) -> str:
    """Return the last of some names that a case comes after."""
    last = ""
    for other in cases:
        if other is case:
            break
        if other.name in names:
            last = other.name
    return last


def _statements(suite: Suite) -> Iterator[Statement]:
    for case in suite.cases:
        yield from case.marks
        yield from case.body
    yield from suite.loose
