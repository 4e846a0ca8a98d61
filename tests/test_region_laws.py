"""The region algebra against a brute-force reading of globs.

They are drawn as trees, so nothing here parses text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import NamedTuple

import pytest
from amounts import EXAMPLES, long
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dos import regions
from dos.errors import RegionInvalid
from dos.regions import Region, region

# Every spelling of a letter, by the letter that a forgiving file system sees.
SPELLINGS = {"a": ["a", "A"], "b": ["b", "B"], "c": ["c"], "é": ["é", "e\u0301", "É"]}
NAMES = [*SPELLINGS, "ab", "bc"]
PATHS = [path for depth in (1, 2, 3) for path in product(NAMES, repeat=depth)]
SPELT = {
    spelt: path
    for path in PATHS
    if len(path) < 3
    for spelt in product(*({name, name.upper(), name.replace("é", "e\u0301")} for name in path))
}


class Letter(NamedTuple):
    seen: str
    written: str


class Class(NamedTuple):
    negated: bool
    letters: tuple[Letter, ...]
    written: str


class Choice(NamedTuple):
    options: tuple[Atoms, ...]


ANY_LETTER, ANY_LETTERS, SLASH, DOT = "?", "*", "/", "."
Atoms = tuple["Letter | Class | Choice | str", ...]

letters = st.sampled_from(
    [Letter(seen, each) for seen, written in SPELLINGS.items() for each in written]
)
listed = st.lists(letters, min_size=1, max_size=3)
spans = st.sampled_from(["ab", "bc", "abc", "AB", "B", "c"])
classes = st.one_of(
    st.builds(
        lambda no, some: Class(no, tuple(some), "".join(each.written for each in some)),
        st.booleans(),
        listed,
    ),
    st.builds(
        lambda no, span: Class(
            no, tuple(Letter(each.lower(), each) for each in span), f"{span[0]}-{span[-1]}"
        ),
        st.booleans(),
        spans,
    ),
)
plain = st.one_of(letters, letters, st.sampled_from([ANY_LETTER, ANY_LETTERS, SLASH, DOT]), classes)
nested = st.builds(
    Choice, st.lists(st.lists(plain, max_size=3).map(tuple), min_size=2, max_size=3).map(tuple)
)
A = Letter("a", "A")
whole_names = st.sampled_from(
    [
        (SLASH, ANY_LETTERS, ANY_LETTERS, SLASH),
        (SLASH, DOT, SLASH),
        (SLASH, A, SLASH, DOT, DOT, SLASH),
        (SLASH, DOT, DOT),
    ]
)
pieces = st.one_of(plain.map(lambda atom: (atom,)), nested.map(lambda atom: (atom,)), whole_names)
# Most globs get literal folders to start with: without them nearly all regions are the whole
# repository.
named = letters.map(lambda letter: (letter, SLASH))
folders = st.one_of(
    st.lists(named, min_size=1, max_size=2),
    st.lists(named, min_size=1, max_size=2),
    st.just([(DOT, SLASH)]),
)
trees: st.SearchStrategy[Atoms] = st.builds(
    lambda above, below: sum(above + below, ()), folders, st.lists(pieces, max_size=4)
)
forests = st.lists(trees, min_size=1, max_size=2)


def written(atoms: Atoms) -> str:
    text = ""
    for atom in atoms:
        if isinstance(atom, Letter):
            text += atom.written
        elif isinstance(atom, Class):
            text += f"[{'!' * atom.negated}{atom.written}]"
        elif isinstance(atom, Choice):
            text += "{" + ",".join(written(option) for option in atom.options) + "}"
        else:
            text += atom
    return text


def choices(atoms: Atoms) -> Iterator[Atoms]:
    options = [
        [choice for option in atom.options for choice in choices(option)]
        if isinstance(atom, Choice)
        else [(atom,)]
        for atom in atoms
    ]
    for picked in product(*options):
        yield sum(picked, ())


def names_of(atoms: Atoms) -> list[Atoms]:
    """Split at the slashes, without `.` and with `..` worked out; a folder's closing slash reads as
    `/**`.
    """
    names: list[Atoms] = [()]
    for atom in atoms:
        if atom == SLASH:
            names.append(())
        else:
            names[-1] += (atom,)
    folder = names[-1] in ((), (DOT,))
    walked: list[Atoms] = []
    for name in names:
        if name == (DOT, DOT):
            walked.pop()
        elif name not in ((), (DOT,)):
            walked.append(name)
    if folder or not walked or all(isinstance(atom, Letter) or atom == DOT for atom in walked[-1]):
        walked.append((ANY_LETTERS, ANY_LETTERS))
    return walked


def name_matches(pattern: Atoms, name: str, seen: Callable[[Letter], str]) -> bool:
    if not pattern:
        return not name
    first, rest = pattern[0], pattern[1:]
    if first == ANY_LETTERS:
        return any(name_matches(rest, name[skip:], seen) for skip in range(len(name) + 1))
    if isinstance(first, Letter):
        return name.startswith(seen(first)) and name_matches(rest, name[len(seen(first)) :], seen)
    if not name or not name_matches(rest, name[1:], seen):
        return False
    if isinstance(first, Class):
        return (name[0] in [seen(letter) for letter in first.letters]) is not first.negated
    return first == ANY_LETTER or first == name[0]


def path_matches(names: list[Atoms], path: tuple[str, ...], seen: Callable[[Letter], str]) -> bool:
    if not names:
        return not path
    if names[0] == (ANY_LETTERS, ANY_LETTERS):
        return any(path_matches(names[1:], path[skip:], seen) for skip in range(len(path) + 1))
    return (
        bool(path)
        and name_matches(names[0], path[0], seen)
        and path_matches(names[1:], path[1:], seen)
    )


def forgiving(letter: Letter) -> str:
    return letter.seen


def exact(letter: Letter) -> str:
    return letter.written


def matched(
    forest: list[Atoms], paths: list[tuple[str, ...]], seen: Callable[[Letter], str]
) -> set[tuple[str, ...]]:
    ways = [names_of(choice) for tree in forest for choice in choices(tree)]
    return {path for path in paths if any(path_matches(way, path, seen) for way in ways)}


def made(forest: list[Atoms]) -> Region | None:
    """The region, or None when a glob was rejected; only globs with a stated reason may be."""
    try:
        return region([written(tree) for tree in forest])
    except RegionInvalid:
        texts = ["".join(written(choice)) for tree in forest for choice in choices(tree)]
        assert any(not text or text.startswith("/") or ".." in text.split("/") for text in texts)
        return None


def check_disjoint_regions_share_no_path(one: list[Atoms], other: list[Atoms]) -> None:
    a, b = made(one), made(other)
    if a is None or b is None or regions.overlaps(a, b):
        return
    for seen in (forgiving, exact):
        assert not matched(one, PATHS, seen) & matched(other, PATHS, seen)
    reached, taken = matched(one, list(SPELT), exact), matched(other, list(SPELT), exact)
    assert not {SPELT[path] for path in reached} & {SPELT[path] for path in taken}


def check_a_path_is_inside_exactly_when_a_glob_matches_it(forest: list[Atoms]) -> None:
    a = made(forest)
    if a is None:
        return
    inside = {path for path in PATHS if regions.contains_path(a, "/".join(path))}
    assert inside == matched(forest, PATHS, forgiving)
    for path in inside:
        assert any(regions.prefix("/".join(path)).startswith(prefix) for prefix in a.prefixes)
        assert regions.contains_path(a, "./x/..//" + "\\".join(path).upper() + "/.")


def check_overlap_is_symmetric_reflexive_and_not_changed_by_leaving_out_covered_prefixes(
    one: list[Atoms], other: list[Atoms]
) -> None:
    a, b = made(one), made(other)
    if a is None or b is None:
        return
    pairs = [(mine, theirs) for mine in a.globs for theirs in b.globs]
    collide = [
        (mine, theirs)
        for mine, theirs in pairs
        if regions.prefix(mine).startswith(regions.prefix(theirs))
        or regions.prefix(theirs).startswith(regions.prefix(mine))
    ]
    assert regions.overlaps(a, b) is regions.overlaps(b, a) is bool(collide)
    assert regions.first_collision(a, b) == (collide[0] if collide else None)
    assert regions.overlaps(a, a)
    assert regions.disjoint(a, b) is not regions.overlaps(a, b)
    assert all(regions.prefix(glob).startswith(a.prefixes) for glob in a.globs)
    assert not any(x.startswith(y) or y.startswith(x) for x, y in combinations(a.prefixes, 2))
    assert all(regions.prefix(prefix or ".") == prefix for prefix in a.prefixes)


CHECKS = [
    (check_disjoint_regions_share_no_path, (forests, forests)),
    (check_a_path_is_inside_exactly_when_a_glob_matches_it, (forests,)),
    (
        check_overlap_is_symmetric_reflexive_and_not_changed_by_leaving_out_covered_prefixes,
        (forests, forests),
    ),
]

SENTENCES = [check.__name__.removeprefix("check_") for check, _ in CHECKS]

Drawn = tuple[st.SearchStrategy[list[Atoms]], ...]


def run(check: Callable[..., None], drawn: Drawn, examples: int) -> None:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings(max_examples=examples, deadline=None, suppress_health_check=slow)(
        given(*drawn)(check)
    )()


@pytest.mark.parametrize(("check", "drawn"), CHECKS, ids=SENTENCES)
def test_the_law_holds(check: Callable[..., None], drawn: Drawn) -> None:
    run(check, drawn, examples=100)


@pytest.mark.soak
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("check", "drawn"), CHECKS, ids=SENTENCES)
def test_the_law_holds_for_long(check: Callable[..., None], drawn: Drawn) -> None:
    run(check, drawn, examples=EXAMPLES)


few_names = st.lists(st.sampled_from(["a", "b", "ab", "A", "*"]), min_size=1, max_size=3).map(
    "/".join
)


@settings(max_examples=long(100, 5_000), deadline=None)
@given(st.lists(st.lists(few_names, max_size=3).map(region), max_size=8))
def test_the_sweep_finds_the_pairs_that_asking_for_each_pair_finds(many: list[Region]) -> None:
    pairs = list(regions.overlapping_pairs(many))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {
        (i, j) for i, j in combinations(range(len(many)), 2) if regions.overlaps(many[i], many[j])
    }


@settings(max_examples=long(200, 5_000), deadline=None)
@given(st.lists(few_names, max_size=3).map(region), st.lists(few_names, max_size=3).map(region))
def test_one_region_is_within_another_exactly_when_each_of_its_folders_is_under_one_of_the_others(
    a: Region, b: Region
) -> None:
    assert regions.is_within(a, b) == all(
        any(mine.startswith(theirs) for theirs in b.reach) for mine in a.reach
    )


tricky = st.text("aAsSßéÉe\u0301İıiI\u0307K\u212aﬁf./\\ \u200d…*?", min_size=1, max_size=8)


@settings(max_examples=long(300, 10_000), deadline=None)
@given(tricky, tricky)
def test_a_path_inside_lies_under_the_prefixes_however_it_is_spelt(glob: str, path: str) -> None:
    try:
        one, made = region([path]), region([glob, path, f"{path}/{glob}"])
    except RegionInvalid:
        return
    inside = regions.contains_path(made, path)
    assert inside is regions.contains_path(made, unicodedata.normalize("NFD", path))
    assert inside is regions.contains_path(made, unicodedata.normalize("NFC", path).casefold())
    if inside:
        assert regions.overlaps(made, one)


@settings(max_examples=long(200, 5_000), deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_region_or_an_error_and_any_path_has_an_answer(glob: str, path: str) -> None:
    try:
        made = region([glob])
    except RegionInvalid as error:
        assert error.hint
        return
    assert made.is_known
    assert all(prefix == "" or prefix.endswith("/") for prefix in made.prefixes)
    assert regions.contains_path(made, path) in (True, False)
