"""The units of one document, as `dos enumerate` lists them."""

import pytest

from dos.units.markdown.enumerate import enumerate_units
from dos.units.policy import Grammar


def shipped_by(text, *more, **settings):
    units = enumerate_units(text, *more, **settings)
    return {unit: entry.shipped_by.value for unit, entry in units.by_unit.items()}


def kinds(found):
    return [drift.kind.value for drift in found.drift]


@pytest.mark.parametrize(
    ("text", "series", "units"),
    [
        ("### 1. A\n### 2 — B\n### 3) C\n", "", ("1", "2", "3")),
        ("### 1.2 A\n### 2: B\n### 3\n", "", ("1.2", "2", "3")),
        ("## AB1: x\n### AB2 y\n", "AB", ("AB1", "AB2")),
        ("## AB1: x\n", "ab", ("AB1",)),
        (
            "## S1\n## S2a\n## S3.1\n## S-x\n## S-4\n## S5-late\n",
            "S",
            ("S1", "S2a", "S3.1", "S-x", "S-4", "S5-late"),
        ),
        ("## **S1** x\n## [S2] y\n## ✅ S3 z\n", "S", ("S1", "S2", "S3")),
        ("## AB4-AB5: both\n## AB6 one\n", "AB", ("AB6",)),
        ("## ABC1: x\n## AB_1: y\n## XAB1: z\n", "AB", ()),
        ("| AB1 | x |\n| AB2 more | y |\n| other | z |\n", "AB", ("AB1", "AB2")),
        ("## Phase 1\n## Phase 2: x\n", "", ("Phase 1", "Phase 2")),
        ("## Phase 1\n## Phase 2: x\n", "AB", ("AB1", "AB2")),
        ("## 1. x\n## Phase 2\n", "", ("1",)),
        ("## 1. x\n## Phase 2\n", "AB", ("AB2",)),
        ("## AUTH1: x\n## Phase 2\n", "AB", ("AB2",)),
        ("```\n## 1. no\n```\n~~~\n## 2. no\n~~~\n## 3. yes\n", "", ("3",)),
        ("# 1. the title\n####### 2. too deep\n", "", ()),
        ("## 2024 in review\n## 2025: plans\n## 2026-01-01\n", "", ()),
        ("## 1. One\n## 1. One again\n", "", ("1",)),
    ],
)
def test_units(text, series, units):
    assert enumerate_units(text, series=series).units == units


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("## AB1: x\n", "header"),
        ("| AB1 | x |\n", "table-row"),
        ("## AB1: x\n\n| AB1 | y |\n", "header+table-row"),
        ("- [ ] AB1: x\n", "list-item"),
        ("## Phase 1\n", "generic-header"),
        ("## Phase 1\n## AB1 x\n", "header"),
    ],
)
def test_source(text, source):
    assert enumerate_units(text, series="AB").by_unit["AB1"].source == source


def test_rows_of_numbers_are_units_only_by_request():
    text = "| # | what |\n|---|---|\n| 1 | a |\n| 2 | b ✅ |\n"
    assert enumerate_units(text).units == ()
    units = enumerate_units(text, Grammar(generic_numeric_table=True))
    assert (units.units, units.shipped) == (("1", "2"), ("2",))


def test_without_the_fallback_a_phase_is_a_heading_like_any():
    assert enumerate_units("## Phase 1\n", Grammar(bare_phase_fallback=False)).units == ()


def test_the_split_keeps_the_order_of_the_document():
    units = enumerate_units("## AB3: a ✅\n## AB1: b\n## AB2: c SHIPPED\n## AB10: d\n")
    assert units.units == ("AB3", "AB1", "AB2", "AB10")
    assert (units.shipped, units.remaining) == (("AB3", "AB2"), ("AB1", "AB10"))
    assert units.by_unit["AB3"].evidence == "## AB3: a ✅"
    assert units.by_unit["AB1"].evidence == ""


def test_who_says_that_it_shipped():
    text = "## AB1: a ✅\n## AB2: b\n## AB3: c\n"
    assert shipped_by(text, meta_shipped=["AB1", "AB3"]) == {
        "AB1": "meta-shipped",
        "AB2": "none",
        "AB3": "meta-shipped",
    }
    assert shipped_by(text) == {"AB1": "stamp", "AB2": "none", "AB3": "none"}


@pytest.mark.parametrize(
    "text", ["## 1. A\n### Part one ✅\n", "## 1. A\n### 1.1 B ✅\n", "## 1. A\nIt has SHIPPED.\n"]
)
def test_what_stands_below_a_heading_does_not_ship_it(text):
    assert "1" in enumerate_units(text).remaining


PARENTS = (
    "## AB1: a\n### AB1.1: b ✅\n#### AB1.1.1: c ✅\n### AB1-x: d ✅\n"
    "## AB2: e\n### AB2.1: f\n### AB2.2: g ✅\n"
)


def test_parents_are_rolled_up_only_by_request():
    assert enumerate_units(PARENTS).shipped == ("AB1.1", "AB1.1.1", "AB1-x", "AB2.2")
    rolled = shipped_by(PARENTS, Grammar(rollup_parents=True), "AB")
    assert rolled["AB1"] == "child-rollup" and rolled["AB2"] == "none"


def test_rolling_up_reaches_the_top_from_the_leaves():
    text = "## AB1: a\n### AB1.1: b\n#### AB1.1.1: c ✅\n#### AB1.1.2: d ✅\n"
    assert shipped_by(text, Grammar(rollup_parents=True)) == {
        "AB1": "child-rollup", "AB1.1": "child-rollup", "AB1.1.1": "stamp", "AB1.1.2": "stamp",
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["TODO", "WIP", "still open", "in progress", "not done", "not yet shipped"]
)
def test_a_parent_that_says_something_is_left_is_not_rolled_up(word):
    text = f"## AB1: a\nThe rest is {word}.\n### AB1.1: b ✅\n"
    assert shipped_by(text, Grammar(rollup_parents=True))["AB1"] == "none"


def test_a_unit_without_children_is_not_rolled_up():
    assert shipped_by("## AB1: a\n## AB10: b ✅\n", Grammar(rollup_parents=True))["AB1"] == "none"


@pytest.mark.parametrize(
    ("text", "settings", "drift"),
    [
        ("## AB1: a\n", {}, []),
        ("", {}, ["empty"]),
        ("## AB1: a\n", {"series": "CD"}, ["empty"]),
        ("## AB1: a\n", {"meta_shipped": ["AB1"]}, []),
        ("## AB1: a\n", {"meta_shipped": ["AB9", "AB9"]}, ["list_table_mismatch"]),
        ("", {"meta_shipped": ["AB9"]}, ["list_table_mismatch", "empty"]),
        ("## AB1: a\n```\n## AB2: b\n", {}, ["unparseable"]),
        ("## AB1: a\n## AB2-AB3: b\n", {}, []),
        ("## AB1: a\n## AB1: b\n", {}, []),
        ("## AB1: a\0\n", {}, ["unparseable"]),
    ],
)
def test_drift(text, settings, drift):
    assert kinds(enumerate_units(text, **settings)) == drift


def test_drift_has_its_lines():
    (drift,) = enumerate_units("## AB1: a\n\n```\n## AB2: b\n").drift
    assert drift.span == (3, 3)
