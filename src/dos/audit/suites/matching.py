"""Matches the cases of a commit's tests before and after."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from dos.audit.suites import strictness
from dos.audit.suites.cases import Case, Suite
from dos.verify import file_kinds

_IN_EVERY_NAME = frozenset(("test", "tests", "should", "it"))
_OF_A_NUMBER = 0.3  # it is in two cases by chance more often than a name is
_IN_EVERY_HEADER = frozenset(("it", "test", "testing", "T"))
_ALIKE = 0.4  # of two cases that are one under another name; rare words count more
_LONG_NAME = 4  # words that two names share
_ALIKE_NAMES = 0.6
_ALIKE_IN_PLACE = 0.5  # of two cases in the same place of a file
_MOST_CANDIDATES = 12  # that are compared with a case


class Pair(Struct, frozen=True):
    """A case that is still there: what it was, what it is."""

    old: Case
    new: Case


class Matching(Struct, frozen=True):
    """The cases before and after. Cases that did not change are left out."""

    lost: list[Case]
    gained: list[Case]
    kept: list[Pair]


def match(
    old: Mapping[str, Suite], new: Mapping[str, Suite], weights: "Callable[[], Weights]"
) -> Matching:
    """Match cases that differ: by name, first within their file, then by what is in them."""
    before, after = _without_same(old, new)
    waiting: dict[str, list[Case]] = {}
    for case in after:
        waiting.setdefault(case.name, []).append(case)
    kept: list[Pair] = []
    lost: list[Case] = []
    for is_here in (True, False):
        lost = []
        for case in before:
            found = _take_nearest(case, waiting.get(case.name) or [], is_here=is_here)
            if found is None:
                lost.append(case)
            else:
                kept.append(Pair(case, found))
        before = lost
    gained = [case for cases in waiting.values() for case in cases]
    if lost and gained:
        lost, gained = _match_by_content(lost, gained, weights(), kept)
    if lost and gained:
        lost, gained = _match_by_similar_name(lost, gained, kept)
    if lost and gained:
        lost, gained = _match_by_place(lost, gained, old, new, kept)
    return Matching(lost, gained, kept)


def _without_same(
    old: Mapping[str, Suite], new: Mapping[str, Suite]
) -> tuple[list[Case], list[Case]]:
    """Return the cases before and after, without those that are the same in the same file."""
    after: list[Case] = []
    before: list[Case] = []
    for path in {**old, **new}:
        ours = old.get(path, Suite()).cases
        theirs = new.get(path, Suite()).cases
        if ours == theirs:
            continue
        first = _common(ours, theirs)
        our_keys = list(map(_key, ours[first:]))
        their_keys = list(map(_key, theirs[first:]))
        mutual = Counter(our_keys) & Counter(their_keys)
        before += _rest(ours[first:], our_keys, mutual)
        after += _rest(theirs[first:], their_keys, mutual)
    return before, after


def _common(ours: Sequence[Case], theirs: Sequence[Case]) -> int:
    """Return how many cases are the same at the beginning."""
    count = 0
    for case, other in zip(ours, theirs, strict=False):
        if case != other:
            break
        count += 1
    return count


def _rest(
    cases: Iterable[Case], keys: Iterable[tuple[str, ...]], mutual: Counter[tuple[str, ...]]
) -> list[Case]:
    left = Counter(mutual)
    rest: list[Case] = []
    for case, key in zip(cases, keys, strict=True):
        if left[key] > 0:
            left[key] -= 1
        else:
            rest.append(case)
    return rest


def _key(case: Case) -> tuple[str, ...]:
    return (case.name, *[mark.text for mark in case.marks], *[each.text for each in case.body])


def _take_nearest(case: Case, candidates: list[Case], *, is_here: bool) -> Case | None:
    """Take the case that continues another of its name, from its own file or from elsewhere.

    Elsewhere it has to be in a file that test runners find as well as they found it.
    """
    is_named = file_kinds.is_named_test(case.path)
    fitting: list[int] = []
    for index, candidate in enumerate(candidates):
        fits = not is_named or file_kinds.is_named_test(candidate.path)
        if is_here:
            fits = candidate.path == case.path
        if fits:
            fitting.append(index)
    if not fitting:
        return None
    best = fitting[0]
    for index in fitting[:_MOST_CANDIDATES]:
        if candidates[index].content == case.content:
            best = index
            break
    return candidates.pop(best)


def _match_by_content(
    lost: list[Case], gained: list[Case], weights: "Weights", kept: list[Pair]
) -> tuple[list[Case], list[Case]]:
    """Add to `kept` the cases that only changed their name; return those that are left."""
    by_word: dict[str, list[int]] = {}
    gained_words = [weights.words(case) for case in gained]
    for index, words in enumerate(gained_words):
        for word in words:
            by_word.setdefault(word, []).append(index)
    scored: list[tuple[float, int, int]] = []
    for number, case in enumerate(lost):
        told = weights.words(case)
        for index in _candidates(told, by_word, weights):
            score = weights.similarity(told, gained_words[index])
            if score >= _ALIKE:
                scored.append((score, number, index))
    matched: dict[int, int] = {}
    used: set[int] = set()
    for _, number, index in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
        if number not in matched and index not in used:
            matched[number] = index
            used.add(index)
            kept.append(Pair(lost[number], gained[index]))
    left = [case for number, case in enumerate(lost) if number not in matched]
    return left, [case for index, case in enumerate(gained) if index not in used]


def _match_by_similar_name(
    lost: list[Case], gained: list[Case], kept: list[Pair]
) -> tuple[list[Case], list[Case]]:
    """Add to `kept` the cases that have nearly the same long name as another of their file."""
    by_word: dict[tuple[str, str], list[int]] = {}
    stems = [_stems(case.name) for case in gained]
    for index, case in enumerate(gained):
        for stem in stems[index]:
            by_word.setdefault((case.path, stem), []).append(index)
    used: set[int] = set()
    left: list[Case] = []
    for case in lost:
        ours = _stems(case.name)
        near: Counter[int] = Counter()
        for stem in ours:
            near.update(by_word.get((case.path, stem), ())[:_MOST_CANDIDATES])
        fits = [index for index, _ in near.most_common(3) if _are_alike(ours, stems[index])]
        fits = [index for index in fits if index not in used]
        if fits:
            used.add(fits[0])
            kept.append(Pair(case, gained[fits[0]]))
        else:
            left.append(case)
    return left, [case for index, case in enumerate(gained) if index not in used]


def _stems(name: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in name_words(name)) - {"a", "the", "an", ""}


def _are_alike(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two names are of many words, most of them the same, and differ in no number."""
    if any(word.isdigit() for word in ours ^ theirs):
        return False
    shared = len(ours & theirs)
    return shared >= _LONG_NAME and shared >= _ALIKE_NAMES * len(ours | theirs)


def _match_by_place(
    lost: list[Case],
    gained: list[Case],
    old: Mapping[str, Suite],
    new: Mapping[str, Suite],
    kept: list[Pair],
) -> tuple[list[Case], list[Case]]:
    """Add to `kept` the cases that were written anew where they stood; return those left."""
    gone, came = set(map(id, lost)), set(map(id, gained))
    renamed = {id(pair.old): pair.new.name for pair in kept}
    places = _places(new, came, {})
    used: set[int] = set()
    matched: set[int] = set()
    for place, cases in _places(old, gone, renamed).items():
        for case in cases:
            words = _body_words(case)
            for candidate in places.get(place, ())[:_MOST_CANDIDATES]:
                theirs = _body_words(candidate)
                whole = len(words | theirs)
                if id(candidate) in used or len(words & theirs) < _ALIKE_IN_PLACE * whole:
                    continue
                kept.append(Pair(case, candidate))
                used.add(id(candidate))
                matched.add(id(case))
                break
    left = [case for case in lost if id(case) not in matched]
    return left, [case for case in gained if id(case) not in used]


def _places(
    suites: Mapping[str, Suite], wanted: set[int], renamed: Mapping[int, str]
) -> dict[tuple[str, str], list[Case]]:
    """Return the wanted cases by their file and the name of the last other case before them."""
    places: dict[tuple[str, str], list[Case]] = {}
    for path, suite in suites.items():
        before = ""
        for case in suite.cases:
            if id(case) in wanted:
                places.setdefault((path, before), []).append(case)
            else:
                before = renamed.get(id(case), case.name)
    return places


def _body_words(case: Case) -> frozenset[str]:
    words: set[str] = set()
    for statement in case.body[1:]:
        words |= strictness.words(statement.text)
    return frozenset(words)


def _candidates(
    words: frozenset[str], by_word: Mapping[str, list[int]], weights: "Weights"
) -> list[int]:
    """Return the cases that share the rarest words."""
    found: Counter[int] = Counter()
    for word in sorted(words, key=weights.count)[: 4 * _MOST_CANDIDATES]:
        for index in by_word.get(word, ())[:_MOST_CANDIDATES]:
            found[index] += 1
    return [index for index, _ in found.most_common(_MOST_CANDIDATES)]


class Weights:
    """How much each word tells about a case: the fewer cases have it, the more."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        self._words: dict[int, frozenset[str]] = {}
        cases = chain.from_iterable(suite.cases for suite in suites)
        self._counts = Counter(chain.from_iterable(map(self.words, cases)))

    def words(self, case: Case) -> frozenset[str]:
        """Return what a case is about, with the words of its name."""
        words = self._words.get(id(case))
        if words is None:
            words = self._words[id(case)] = _find_words(case)
        return words

    def count(self, word: str) -> int:
        """Return how many cases have a word."""
        return self._counts[word]

    def share(self, ours: frozenset[str], theirs: frozenset[str]) -> float:
        """Return how much of ours they have, from 0 to 1."""
        return self._sum(ours & theirs) / (self._sum(ours) or 1)

    def similarity(self, ours: frozenset[str], theirs: frozenset[str]) -> float:
        """Return how much two cases share, from 0 to 1."""
        return self._sum(ours & theirs) / (self._sum(ours | theirs) or 1)

    def _sum(self, words: frozenset[str]) -> float:
        total = 0.0
        for word in words:
            weight = _OF_A_NUMBER if word[0].isdigit() else 1
            total += weight / max(1, self._counts[word])
        return total


@lru_cache(maxsize=1 << 12)
def _find_words(case: Case) -> frozenset[str]:
    found: set[str] = set()
    tables = [mark for mark in case.marks if "(" in mark.masked]
    for statement in (*tables, *case.body[1:]):
        found |= strictness.words(statement.text)
    found |= strictness.words(case.body[0].masked) - _IN_EVERY_HEADER
    found.discard(case.name)
    return frozenset(found.union(name_words(case.name)))


@lru_cache(maxsize=1 << 12)
def name_words(name: str) -> frozenset[str]:
    """Return the words of a case's name."""
    return frozenset(word.lower() for word in strictness.parts_of_name(name)) - _IN_EVERY_NAME
