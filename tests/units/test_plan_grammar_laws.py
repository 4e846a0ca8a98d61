"""Laws of the grammar: it reads everything, in linear time, and all its views agree."""

import re

import pytest
from amounts import EXAMPLES
from growth import grows_less_than
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.units.markdown.document import read
from dos.units.markdown.enumerate import enumerate_units
from dos.units.policy import Grammar
from dos.units.portfolio import assemble
from dos.units.unit import PlanClaim

MANY = settings(max_examples=EXAMPLES, deadline=None)

PIECES = [
    "#", "##", "###", "- ", "* ", "[ ] ", "[x] ", "**", "`", "```", "~~~", "~~~~", "|", "|---|",
    "<!--", "-->", "---",
    "AUTH", "AUTH1", "AUTH2.1", "AUTH-x", "AUTH1-AUTH2", "B7", "1.", "2)", "3", "Phase 2", " — ",
    ": ", " - ", "–",
    "SHIPPED", "not shipped", "✅", "✓", "blocked", "lane: api", "- depends: AUTH1",
    "- status: done", "- gated: x",
    "plan: B", "id", "status", " ", "  ", "\t", "\n", "\n", "\n", "\r\n", "\ufeff", "\0", "\u2028",
    "é",
    "\N{PILE OF POO}", "a word",
]  # fmt: skip
texts = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
)
grammars = st.builds(
    Grammar,
    heading_levels=st.lists(st.integers(1, 6), max_size=6).map(tuple),
    scan_tables=st.booleans(),
    generic_numeric_table=st.booleans(),
    bare_phase_fallback=st.booleans(),
    rollup_parents=st.booleans(),
)
series = st.sampled_from(["", "AUTH", "auth", "B", "AUTH-", "(", "\\", "É"])


def check_any_text_is_read(text, grammar, asked):
    document = read(text, plan="AUTH", document="a.md", grammar=grammar, series=asked)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert len({unit.unit.name for unit in document.declared}) == len(document.declared)
    for unit in document.declared:
        assert 1 <= unit.unit.line <= lines
        assert unit.unit.id.strip() and unit.unit.title.strip()
        assert unit.unit.claimed in set(PlanClaim)
        assert (unit.stamp != "") == (unit.unit.claimed == PlanClaim.SHIPPED)
    assert all(1 <= problem.line <= lines for problem in document.problems)
    assemble(document.units, document.problems)
    units = enumerate_units(text, grammar, asked, ["AUTH1"], plan="AUTH")
    assert sorted([*units.remaining, *units.shipped]) == sorted(units.units)
    assert bool(units.units) != any(drift.kind == "empty" for drift in units.drift)


@settings(deadline=None)
@given(texts, grammars, series)
def test_any_text_is_read(text, grammar, asked):
    check_any_text_is_read(text, grammar, asked)


@pytest.mark.soak
@MANY
@given(texts, grammars, series)
def test_any_text_is_read_often(text, grammar, asked):
    check_any_text_is_read(text, grammar, asked)


# What the released readers accept, each in a line of its own: a heading of the board, a heading of
# a series, a row.
SEPARATORS = st.sampled_from([" — ", " – ", " - ", ": "])
plans = st.text("ABXYZ_", min_size=1, max_size=5).map("P{}".format)
suffixes = st.builds(
    "{}{}{}{}".format,
    st.integers(1, 40),
    st.sampled_from(["", "a", "c"]),
    st.sampled_from(["", ".1", ".2.3"]),
    st.sampled_from(["", "-one", "-two-three"]),
)
titles = st.lists(
    st.sampled_from(["log", "in", "out", "audit", "the", "server"]), min_size=1, max_size=4
).map(" ".join)
levels = st.integers(2, 4)


def board_heading(plan, suffix, separator, title, level):
    return f"{'#' * level} 1. {plan} {plan}{suffix}{separator}{title}"


def series_heading(plan, suffix, separator, title, level):
    return f"{'#' * level} {plan}{suffix} {title}"


def row(plan, suffix, separator, title, level):
    return f"| {plan}{suffix} | {title} |"


def bullet(plan, suffix, separator, title, level):
    return f"- **{plan}{suffix}{separator}{title}**"


declarations = st.lists(
    st.tuples(
        st.sampled_from([board_heading, series_heading, row, bullet]),
        suffixes,
        SEPARATORS,
        titles,
        levels,
    ),
    min_size=1,
    max_size=12,
)


def check_the_views_agree(plan, written):
    # A bullet counts only under a heading that opened its plan.
    lines = [f"## 1. {plan} {plan}999 — first"] + [form(plan, *rest) for form, *rest in written]
    wanted = list(dict.fromkeys([f"{plan}999", *(f"{plan}{suffix}" for _, suffix, *_ in written)]))
    text = "\n".join(lines)
    board = [unit.unit.id for unit in read(text, plan="DOCUMENT").declared]
    assert board == wanted
    assert list(enumerate_units(text, plan="DOCUMENT").units) == wanted
    assert list(enumerate_units(text, series=plan, plan="DOCUMENT").units) == wanted


@settings(deadline=None)
@given(plans, declarations)
def test_the_board_and_both_ways_to_enumerate_find_the_same_units(plan, written):
    check_the_views_agree(plan, written)


@pytest.mark.soak
@MANY
@given(plans, declarations)
def test_the_views_agree_often(plan, written):
    check_the_views_agree(plan, written)


@settings(deadline=None)
@given(texts)
def test_every_unit_of_a_series_that_the_document_knows_is_enumerated_under_it(text):
    declared = [unit.unit.id for unit in read(text, plan="AUTH").declared]
    of_series = [name for name in declared if re.match(r"AUTH[-\d]", name)]
    if of_series:
        units = enumerate_units(text, series="AUTH", plan="AUTH").units
        assert set(of_series) <= set(units)


@settings(deadline=None)
@given(texts)
def test_prose_below_a_unit_stamps_nothing(text):
    prose = re.sub(r"[^\w ✅✓]", " ", text.replace("\n", " "))
    (declared,) = read(f"## AUTH1: a title\n\nIt says: {prose} SHIPPED ✅\n").declared
    assert declared.unit.claimed == PlanClaim.OPEN


SHAPES = {
    "spaces in a heading": lambda n: "## A" + " " * n + "x",
    "dashes in a heading": lambda n: "## AUTH1" + "-" * n,
    "hashes": lambda n: "#" * n,
    "words in an id": lambda n: "## " + "a-" * n + "1: x",
    "stamps and their denials": lambda n: "## AUTH1: " + "not shipped " * n,
    "open comments": lambda n: "<!--" * n,
    "closed comments": lambda n: "<!-- -->" * n,
    "cells": lambda n: "|" * n + "\n" + "|-" * n + "\n" + "| AUTH1 " * n,
    "one unit again and again": lambda n: "## AUTH1: x\n" * n,
    "units": lambda n: "".join(
        f"## AUTH{number}: after AUTH{number + 1} shipped\n" for number in range(n)
    ),
    "rows before headings": lambda n: "".join(
        [f"| AUTH{number} | x |\n" for number in range(n)]
        + [f"## Z AUTH{number}: x\n" for number in range(n)]
    ),
    "items": lambda n: "".join(f"- [ ] AUTH{number}: x\n" for number in range(n)),
    "items ever deeper": lambda n: "".join(
        f"{' ' * (number % 60)}- [ ] AUTH{number}: x\n" for number in range(n)
    ),
    "lists of nothing": lambda n: "## AUTH1: x\n" + "- paths:\n" * n,
    "chains": lambda n: "".join(
        f"## AUTH{number}: x\n- depends: AUTH{number + 1}\n" for number in range(n)
    ),
    "fences": lambda n: "```\n" * n,
    "blank lines below items": lambda n: ("- [ ] AUTH1: x\n" + "\n" * 20) * n,
}


def read_and_assemble(text):
    document = read(text, plan="AUTH", document="a.md")
    assemble(document.units, document.problems)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_grows_with_the_text_and_not_with_its_square(shape):
    small, large = SHAPES[shape](400), SHAPES[shape](8 * 400)
    assert grows_less_than(
        32, read_and_assemble, small, large
    )  # eight times the text; a square would be 64


@pytest.mark.soak
def test_ten_megabytes_are_read():
    unit = (
        "## AUTH{0}: a title of some length\n\n"
        "Prose that nobody needs to match, line after line.\n\n- lane: api\n\n"
    )
    text = "".join(unit.format(number) for number in range(100_000))
    assert len(text) > 10_000_000
    assert len(read(text, plan="AUTH").units) == 100_000


def test_a_line_of_megabytes_is_one_line():
    (declared,) = read("## AUTH1: " + "x" * 3_000_000).declared
    assert len(declared.unit.title) == 3_000_000
