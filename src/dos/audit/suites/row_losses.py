"""Compares the rows of the tables that cases, or checks, are run over."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from dos.audit.suites import checks, strictness, tables
from dos.audit.suites.cases import Case, Suite
from dos.audit.suites.matching import Matching, Pair
from dos.audit.suites.statements import Statement, suffix_of

_MOST_ROWS = 300  # of a table whose rows are compared by their places
_MOST_ADDED = 300  # statements that are looked at for a row that became one


class RowComparison:
    """The tables of suites before and after."""

    def __init__(
        self, old: Mapping[str, Suite], new: Mapping[str, Suite], matching: Matching
    ) -> None:
        self.suites = (*old.values(), *new.values())
        self.differing = [*matching.lost, *matching.gained]
        for pair in matching.kept:
            self.differing += (pair.old, pair.new)

    @cached_property
    def headers(self) -> frozenset[str]:
        """The statements that run cases, or checks, over something; only of cases that differ."""
        found: set[str] = set()
        for case in self.differing:
            checker = _checker(suffix_of(case.path))
            found.update(each.text for each in tables.headers(_told(case), checker))
        for suite in self.suites:
            found.update(each.text for each in _loose_headers(suite))
        return frozenset(found)

    @cached_property
    def looped(self) -> frozenset[str]:
        """The names of what those statements run over."""
        names: frozenset[str] = frozenset()
        for case in self.differing:
            names |= tables.looped_names(self._headers_in(_told(case)))
        for suite in self.suites:
            for case in suite.cases:
                names |= tables.looped_names(self._headers_in(case.marks))
            names |= tables.looped_names(self._headers_in(suite.loose))
        return names

    def of(self, case: Case) -> list[str]:
        """Return the rows of the tables in a case."""
        return list(tables.rows(_told(case), self.headers, self.looped))

    def missing_in(self, pair: Pair, added: Sequence[Statement]) -> list[str]:
        """Return the rows that the tables of a case lost."""
        return self.missing(_told(pair.old), _told(pair.new), added)

    def missing(
        self, old: Iterable[Statement], new: Iterable[Statement], added: Sequence[Statement]
    ) -> list[str]:
        """Return the rows that tables lost, if they lost more than came; `added` are the statements
        that a row may have become."""
        texts = Counter(each.text for each in old)
        texts.subtract(each.text for each in new)
        went = [each for each in old if texts[each.text] > 0]
        if not any(map(tables.may_have_rows, went)):
            return []
        came = [each for each in new if texts[each.text] < 0]
        before = list(tables.rows(went, self.headers, self.looped))
        if not before:
            return []
        after = list(tables.rows(came, self.headers, self.looped))
        if not after and any(map(self._is_table, came)):
            return []  # the rows are not written down any more
        moved = set(tables.rows(added, self.headers, self.looped)).difference(after)
        lost = [row for row in (Counter(before) - Counter(after)).elements() if row not in moved]
        gained = list((Counter(after) - Counter(before)).elements())
        if len(lost) <= len(gained):
            lost = [row for row in _unreplaced(before, after) if row in lost]
            return [row for row in lost if not self._is_statement(row, added)]
        lost = [row for row in lost if not self._is_statement(row, added)]
        return lost if len(lost) > len(gained) else []

    def _headers_in(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        return (each for each in statements if each.text in self.headers)

    def _is_table(self, statement: Statement) -> bool:
        return tables.is_table(statement, self.headers, self.looped)

    def _is_statement(self, row: str, added: Sequence[Statement]) -> bool:
        """Whether a row of a table became a statement of its own."""
        words = strictness.words(row)
        if not words:
            return True
        for statement in added[:_MOST_ADDED]:
            if words <= strictness.words(statement.text) and not self._is_table(statement):
                return True
        return False


def _unreplaced(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the rows that were taken out of a table, where none came that is like them.

    A row that stands where another one stood is that one, with other values.
    """
    if max(len(before), len(after)) > _MOST_ROWS:
        return []
    kept = Counter(before) & Counter(after)
    if kept.total() < len(before) / 2:
        return []  # the table was written anew
    out: list[str] = []
    came: list[str] = []
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, old_at, old_end, new_at, new_end in matcher.get_opcodes():
        if kind != "equal":
            came += [row for row in after[new_at:new_end] if row not in kept]
        if kind == "delete":
            out += [row for row in before[old_at:old_end] if row not in kept]
    common = Counter(word for row in before for word in strictness.words(row))
    new = frozenset().union(*map(strictness.words, came))
    return [row for row in out if not _is_like(row, new, common)]


def _is_like(row: str, words: frozenset[str], common: Counter[str]) -> bool:
    """Whether a row shares with others what few rows of its table have."""
    return any(common[word] == 1 for word in strictness.words(row) & words)


def _loose_headers(suite: Suite) -> Iterator[Statement]:
    """Yield the statements outside of cases that run cases, or checks, over something."""
    starts = {id(case.body[0]) for case in suite.cases}
    is_check = _checker(suffix_of(suite.path))
    told = [*suite.loose, *[case.body[0] for case in suite.cases]]
    told.sort(key=lambda statement: statement.line)
    return tables.headers(told, lambda each: id(each) in starts or is_check(each))


def _told(case: Case) -> tuple[Statement, ...]:
    return (*case.marks, *case.body)


def _checker(suffix: str) -> Callable[[Statement], bool]:
    """Return what tells whether a statement of a language checks something."""

    def is_check(statement: Statement) -> bool:
        return bool(checks.of(suffix, [statement], frozenset()))

    return is_check
