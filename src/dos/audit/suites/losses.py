"""Finds which checks of a case, or of a helper, are gone or ask for less."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from msgspec import Struct

from dos.audit.suites import checks, strictness, tables
from dos.audit.suites.checks import Check, Strictness
from dos.audit.suites.statements import Statement

_ALIKE = 0.3  # of two checks about the same thing
_MOST_CANDIDATES = 8
_COVERED = 0.65  # of the words of a check that other statements took over
_MOST_COMPARED = 300  # statements of a side that are compared one by one


class Loss(Struct, frozen=True):
    """A check that is gone, or the one that took its place and asks for less."""

    check: Check
    laxer: Check | None = None


class Body(Struct, frozen=True):
    """The statements of a case or a helper, and what they check."""

    statements: Sequence[Statement]
    checks: Sequence[Check]

    @property
    def real_checks(self) -> list[Check]:
        """The checks that can fail."""
        return [check for check in self.checks if check.strictness > Strictness.VACUOUS]


class Pool:
    """The checks that bodies have more of than before: what moved from another is there."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._shared: set[str] = set()

    def add(self, old: Iterable[Check], new: Iterable[Check], *, is_shared: bool = False) -> None:
        """Add what a body gained. What is shared is run for every case that calls it."""
        gained = _missing(new, old)
        if is_shared:
            self._shared.update(check.text for check in gained)
        else:
            self._left.update(check.text for check in gained)

    def take(self, check: Check) -> bool:
        """Whether there is such a check, and take it."""
        if check.text in self._shared:
            return True
        if self._left[check.text] <= 0:
            return False
        self._left[check.text] -= 1
        return True


def find(old: Body, new: Body, pool: Pool) -> list[Loss]:
    """Return which checks of a body are weaker than before."""
    lost = _missing(old.real_checks, new.checks)
    gained = _missing(new.real_checks, old.checks)
    lost = [check for check in lost if not pool.take(check)]
    if not lost:
        return []
    if any(check.strictness == Strictness.GOLDEN for check in gained):
        return []
    return _Comparison(old, new, lost, gained).losses()


def _missing(ours: Iterable[Check], theirs: Iterable[Check]) -> list[Check]:
    """Return our checks that they do not have, or have fewer of."""
    known = Counter(check.text for check in theirs)
    missing: list[Check] = []
    for check in ours:
        if known[check.text] > 0:
            known[check.text] -= 1
        else:
            missing.append(check)
    return missing


class _Comparison:
    """The checks that a body lost and gained."""

    def __init__(self, old: Body, new: Body, lost: list[Check], gained: list[Check]) -> None:
        self.old = old
        self.new = new
        self.lost = lost
        self.gained = gained
        texts = Counter(statement.text for statement in old.statements)
        self.added: list[Statement] = []
        for statement in new.statements:
            if texts[statement.text] > 0:
                texts[statement.text] -= 1
            else:
                self.added.append(statement)

    def losses(self) -> list[Loss]:
        """Return the losses, in the order of the old checks."""
        pairs = self._similar_pairs()
        is_only_change = self._is_only_change()
        found: list[Loss] = []
        for index, match in pairs.items():
            old, new = self.lost[index], self.gained[match]
            if strictness.is_laxer(old, new, is_only_change=is_only_change):
                found.append(Loss(old, new))
        found += self._unreplaced(pairs, is_only_change=is_only_change)
        return sorted(found, key=lambda loss: loss.check.line)

    def _similar_pairs(self) -> dict[int, int]:
        """Pair lost checks with gained ones about the same thing, the most similar first."""
        by_word: dict[str, list[int]] = {}
        for index, check in enumerate(self.gained):
            for word in strictness.words(check.text):
                by_word.setdefault(word, []).append(index)
        scored: list[tuple[float, int, int]] = []
        for number, check in enumerate(self.lost):
            near: Counter[int] = Counter()
            for word in strictness.words(check.text):
                near.update(by_word.get(word, ())[:_MOST_CANDIDATES])
            for index, _ in near.most_common(_MOST_CANDIDATES):
                score = strictness.similarity(check, self.gained[index])
                if score >= _ALIKE:
                    scored.append((-score, abs(number - index), number * 100_000 + index))
        pairs: dict[int, int] = {}
        used: set[int] = set()
        for _, _, place in sorted(scored):
            number, index = divmod(place, 100_000)
            if number not in pairs and index not in used:
                pairs[number] = index
                used.add(index)
        return pairs

    def _unreplaced(self, pairs: dict[int, int], *, is_only_change: bool) -> list[Loss]:
        """Return the lost checks in whose place nothing came, or something laxer."""
        left = [check for number, check in enumerate(self.lost) if number not in pairs]
        if not left:
            return []
        # Where no check of before is left the body was written anew: all of it is one place.
        is_new = len(self.lost) == len(self.old.real_checks)
        regions = _Regions(self.old.statements, self.new.statements, is_one=is_new)
        room = self._room(pairs, regions)
        is_taken_over = bool(self.gained or room) and not is_only_change
        found: list[Loss] = []
        for check in left:
            region = regions.of_old(check.line)
            if self._is_part_of_another(check) or (is_taken_over and self._is_covered(check)):
                continue
            if not room.get(region):
                found.append(Loss(check, self._idle(regions, region)))
                continue
            came = room[region].pop(0)
            if came and is_only_change and strictness.is_laxer(check, came, is_only_change=True):
                found.append(Loss(check, came))
        return found

    def _room(self, pairs: dict[int, int], regions: "_Regions") -> dict[int, list[Check | None]]:
        """Return by place what can stand for lost checks.

        That is a gained check, a statement that ends the test with an error, or a second place that
        a check has: what it is about is also in statements that were added.
        """
        room: dict[int, list[Check | None]] = {}
        used = set(pairs.values())
        for number, check in enumerate(self.gained):
            if number not in used and not self._is_of_rows(check):
                room.setdefault(regions.of_new(check.line), []).append(check)
        for statement in filter(checks.is_guard, self.added):
            room.setdefault(regions.of_new(statement.line), []).append(None)
        for number, match in pairs.items():
            check = self.lost[number]
            if self._is_covered_beside(check, self.gained[match]):
                room.setdefault(regions.of_old(check.line), []).append(None)
        return room

    @cached_property
    def added_words(self) -> Counter[str]:
        """What the statements that were added are about, and how many are about it."""
        return Counter(word for each in self.added for word in strictness.words(each.text))

    def _is_of_rows(self, check: Check) -> bool:
        """Whether a check is of the rows of a new table: its values are there."""
        return any(map(tables.runs_cases, self.added)) and not strictness.has_values(check)

    @cached_property
    def words_beside(self) -> Counter[str]:
        """The same without tables: a row of one stands for one check."""
        told = [each for each in self.added if not tables.runs_cases(each)]
        return Counter(word for each in told for word in strictness.words(each.text))

    def _is_covered(self, check: Check) -> bool:
        """Whether what a check is about is in statements that were added."""
        ours = strictness.words(check.text)
        return bool(ours) and sum(map(self.added_words.__contains__, ours)) >= _COVERED * len(ours)

    def _is_covered_beside(self, check: Check, gained: Check) -> bool:
        """Whether what a check is about is in added statements other than the one in its place."""
        ours, in_place = strictness.words(check.text), strictness.words(gained.text)
        beside = [word for word in ours if self.words_beside[word] > (word in in_place)]
        return bool(ours) and len(beside) >= _COVERED * len(ours)

    def _is_part_of_another(self, check: Check) -> bool:
        """Whether a value is compared as a whole now, of which a check asked for a part."""
        names = strictness.names(check.text)
        is_exact = check.strictness >= Strictness.EXACT
        if not names or (is_exact and not strictness.is_of_part(check)):
            return False
        for gained in self.gained[:_MOST_COMPARED]:
            if not gained.is_plain or gained.strictness < Strictness.EXACT:
                continue
            if is_exact and strictness.is_whole_of(gained, check):
                return True
            if not is_exact and names <= strictness.names(gained.text):
                return True
        return False

    def _idle(self, regions: "_Regions", region: int) -> Check | None:
        """Return a check that cannot fail and came to a place."""
        for check in self.idle:
            if regions.of_new(check.line) == region:
                return check
        return None

    @cached_property
    def idle(self) -> list[Check]:
        """The first checks that came and cannot fail."""
        came = _missing(self.new.checks, self.old.checks)
        idle = [check for check in came if check.strictness == Strictness.VACUOUS]
        return idle[:_MOST_CANDIDATES]

    def _is_only_change(self) -> bool:
        """Whether the statements that check nothing are as they were."""
        return _other_statements(self.old) == _other_statements(self.new)


def _other_statements(body: Body) -> Counter[str]:
    """Return the statements of a body that check nothing, without those that only fail it."""
    lines = {check.line for check in body.checks}
    others: Counter[str] = Counter()
    for statement in body.statements:
        if statement.line not in lines and not checks.is_failure(statement):
            others[statement.text] += 1
    return others


class _Regions:
    """The places of a body where statements were replaced; each has a number."""

    def __init__(self, old: Sequence[Statement], new: Sequence[Statement], *, is_one: bool) -> None:
        self._old: dict[int, int] = {}
        self._new: dict[int, int] = {}
        if is_one or max(len(old), len(new)) > _MOST_COMPARED:
            return
        matcher = SequenceMatcher(
            a=[each.text for each in old], b=[each.text for each in new], autojunk=False
        )
        for number, (kind, old_at, old_end, new_at, new_end) in enumerate(matcher.get_opcodes()):
            if kind != "equal":
                self._old.update((each.line, number) for each in old[old_at:old_end])
                self._new.update((each.line, number) for each in new[new_at:new_end])

    def of_old(self, line: int) -> int:
        """Return the place that a line of the old body is in."""
        return self._old.get(line, -1)

    def of_new(self, line: int) -> int:
        """Return the place that a line of the new body is in."""
        return self._new.get(line, -1)
