"""On which line each key of a text stands."""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.config.toml_text import key_lines, key_text, line_of, toml_string, value_text

EVERYTHING = '''# a comment with [brackets] and = signs
top = 1
"quoted key" = "a # no comment"
'literal.key' = 2

[table]  # with a comment
plain = "x"
dotted.key.path = 3
many = [
  "one",  # ] not the end
  "two",
  { inner = 1, deep = { er = 2 } },
  [3,
   4],
]
text = """
[not.a.header]
fake = 1
""\\"""" # five quotes at most
literal = \'\'\'
also = "not a key"
\'\'\'
after = 1979-05-27 07:32:00

[table."sub table"]
a = { b = [1, 2], "c d" = "}" }

[[array]]
x = 1
[array.inner]
y = 2
[[array]]
x = 3
[[array.more]]
z = 4
[[array.more]]
z = 5

[ spaced . out ]
last = true'''

EXPECTED = {
    ("top",): 2,
    ("quoted key",): 3,
    ("literal.key",): 4,
    ("table",): 6,
    ("table", "plain"): 7,
    ("table", "dotted"): 8,
    ("table", "dotted", "key", "path"): 8,
    ("table", "many"): 9,
    ("table", "many", 0): 10,
    ("table", "many", 1): 11,
    ("table", "many", 2): 12,
    ("table", "many", 2, "inner"): 12,
    ("table", "many", 2, "deep", "er"): 12,
    ("table", "many", 3): 13,
    ("table", "many", 3, 1): 14,
    ("table", "text"): 16,
    ("table", "literal"): 20,
    ("table", "after"): 23,
    ("table", "sub table"): 25,
    ("table", "sub table", "a", "b", 1): 26,
    ("table", "sub table", "a", "c d"): 26,
    ("array",): 28,
    ("array", 0): 28,
    ("array", 0, "x"): 29,
    ("array", 0, "inner", "y"): 31,
    ("array", 1): 32,
    ("array", 1, "x"): 33,
    ("array", 1, "more", 0, "z"): 35,
    ("array", 1, "more", 1): 36,
    ("array", 1, "more", 1, "z"): 37,
    ("spaced",): 39,
    ("spaced", "out"): 39,
    ("spaced", "out", "last"): 40,
}


def test_the_sample_is_toml() -> None:
    assert tomllib.loads(EVERYTHING)["table"]["after"].year == 1979


@pytest.mark.parametrize(("key", "line"), EXPECTED.items())
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_key_is_found_on_its_line(key: tuple[str | int, ...], line: int, newline: str) -> None:
    assert key_lines(EVERYTHING.replace("\n", newline))[key] == line


def test_nothing_inside_a_text_or_a_comment_is_taken_for_a_key() -> None:
    assert {key[-1] for key in key_lines(EVERYTHING)}.isdisjoint(
        {"fake", "also", "not", "brackets"}
    )


def test_a_key_that_was_not_written_is_placed_at_the_nearest_table_around_it() -> None:
    lines = key_lines("[a]\n[a.b]\n")
    assert line_of(lines, ("a", "b", "c")) == 2
    assert line_of(lines, ("a", "x", "c")) == 1
    assert line_of(lines, ("z",)) is None


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("supervise", "target"), "supervise.target"),
        (("lanes", "trees", "sp ace", 0), 'lanes.trees."sp ace"[0]'),
        (("v1.2",), '"v1.2"'),
        (('say "hi"',), '"say \\"hi\\""'),
        (("",), '""'),
        (("é",), '"é"'),
        (("a", 1, "b"), "a[1].b"),
    ],
)
def test_a_key_is_written_as_people_type_it(key: tuple[str | int, ...], text: str) -> None:
    assert key_text(key) == text


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=10,
)


@settings(deadline=None)
@given(TEXT)
def test_a_quoted_text_reads_back_as_itself(text: str) -> None:
    assert tomllib.loads(f"x = {toml_string(text)}") == {"x": text}


@settings(deadline=None)
@given(VALUES)
def test_a_written_value_reads_back_as_itself(value: Any) -> None:
    assert tomllib.loads(f"x = {value_text(value)}") == {"x": value}


@settings(deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=5), st.booleans())
def test_every_key_of_any_table_is_found_on_the_line_it_was_written(
    tables: dict[str, Any], nested: bool
) -> None:
    header = ["[outer]"] if nested else []
    text = "\n".join(
        [*header, *(f"{key_text((name,))} = {value_text(value)}" for name, value in tables.items())]
    )
    lines = key_lines(text)
    outer = ("outer",) if nested else ()
    for place, (name, value) in enumerate(tables.items(), start=1 + len(header)):
        assert lines[(*outer, name)] == place
        if isinstance(value, dict):
            assert all(lines[(*outer, name, inner)] == place for inner in value)
