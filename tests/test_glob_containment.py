"""Whether a glob is surely inside of a region, against the paths that both match."""

from itertools import product

import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.containment import covers, is_surely_inside
from dos.errors import RegionInvalid
from dos.globs import matches, path_key
from dos.regions import region

NAMES = ("a", "b", "ab", "a.py")
PATHS = ["/".join(names) for depth in (1, 2, 3, 4) for names in product(NAMES, repeat=depth)]
PARTS = ("a", "A", "b", "ab", "a.py", "*", "**", "a*", "*b", "?", "[ab]", "*.py", "{a,b}", "{ab,*}")
globs = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("src/**", "src/api/**"),
        ("src/**", "src/api/client.py"),
        ("src/**", "./SRC/api/"),
        ("src", "src/**"),
        ("**", "any/thing.py"),
        ("**/*", "any/thing.py"),
        ("**/*", "**"),
        ("src/*/tests/**", "src/api/tests/test_it.py"),
        ("src/*.py", "src/*.py"),
        ("{src,tests}/**", "tests/api/**"),
        ("src/**", "src/{api,web}/**"),
        ("src/**/*", "src/*/**"),
    ],
)
def test_what_lies_inside_by_its_names_is_surely_inside(wide: str, narrow: str) -> None:
    assert covers(wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("src/api/**", "src/**"),
        ("src/**", "docs/a.md"),
        ("src/**", "**"),
        ("src/*", "src/api/**"),
        ("{src,tests}/**", "{src,docs}/**"),
        ("src/*.py", "src/client.py"),  # which may be a folder with files in it
        ("src/[a-m]*/**", "src/[a-z]*/**"),
        ("src/**/*", "src/**"),  # a file with the name `src` matches only the second
    ],
)
def test_what_may_lie_outside_is_not_surely_inside(wide: str, narrow: str) -> None:
    assert not covers(wide, narrow)


@settings(max_examples=EXAMPLES)
@given(globs, globs)
def test_no_path_of_a_covered_glob_is_outside(wide: str, narrow: str) -> None:
    if covers(wide, narrow):
        keys = [path_key(path) for path in PATHS]
        inside = [key for key in keys if key and matches(narrow, key)]
        assert [key for key in inside if not matches(wide, key)] == []


@settings(max_examples=EXAMPLES)
@given(globs)
def test_a_glob_covers_itself_and_everything_covers_it(glob: str) -> None:
    assert covers(glob, glob)
    assert covers("**", glob)
    assert covers("**/*", glob)


def test_globs_are_inside_of_a_region_when_each_is_inside_of_one_of_its_globs() -> None:
    lane = region(["src/**", "tests/api/**"])
    assert is_surely_inside(["src/api/**", "tests/api/test_it.py"], lane)
    assert not is_surely_inside(["src/api/**", "tests/web/**"], lane)


def test_an_unknown_region_holds_nothing_and_a_broken_glob_is_inside_of_nothing() -> None:
    assert not is_surely_inside(["src/**"], region([]))
    assert not is_surely_inside(["src/[a"], region(["**"]))
    with pytest.raises(RegionInvalid):
        covers("src/[a", "src/a")


def test_many_stars_are_compared_without_trying_every_split() -> None:
    assert not covers("a/" + "**/b/" * 60 + "c", "a/" + "**/b/" * 60 + "d")
