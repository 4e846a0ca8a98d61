"""What in a plan document is a unit, and what a unit says about itself."""

import pytest

from dos.units.markdown.document import plan_name, read
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim, ProblemKind

DOCUMENT = """# The plan

Prose about nothing.

## 1. AUTH AUTH1 — log in
Make it possible to log in.

- lane: api
- paths: `src/api/login.py`, src/api/session.py
- acceptance: `pytest tests/test_login.py`

### AUTH2: log out

```
## FAKE FAKE1: inside a fence
```

## Notes about 2 things
## 3. Not a unit
"""
# On which two released readers agreed about nothing.
BOTH_READERS = """# Auth

## 1. AUTH AUTH1 — log in
## 2. AUTH AUTH2 — sessions
- **AUTH2.1 — store**
- **AUTH2.2** expiry
## 3. AUTH AUTH3 - tokens
- **AUTH3.1: rotate**
### AUTH4 Refresh
| AUTH5 | audit |
"""


def ids(text, **more):
    return [
        unit.unit.id for unit in read(text, plan="AUTH", document="auth-plan.md", **more).declared
    ]


def only(text, **more):
    (declared,) = read(text, plan="AUTH", document="auth-plan.md", **more).declared
    return declared.unit


def claimed(text):
    return {unit.unit.id: unit.unit.claimed for unit in read(text, plan="AUTH").declared}


def test_a_heading_with_an_id_is_a_unit():
    first, second = read(DOCUMENT, plan="PLAN", document="p.md").units
    assert (first.name, first.title, first.lane, first.line) == ("AUTH/AUTH1", "log in", "api", 5)
    assert first.text == "Make it possible to log in."
    assert first.paths == ("src/api/login.py", "src/api/session.py")
    assert first.acceptance == "pytest tests/test_login.py"
    assert (second.name, second.title, second.line) == ("PLAN/AUTH2", "log out", 12)


def test_one_document_holds_what_every_reader_of_it_found():
    assert ids(BOTH_READERS) == [
        "AUTH1",
        "AUTH2",
        "AUTH2.1",
        "AUTH2.2",
        "AUTH3",
        "AUTH3.1",
        "AUTH4",
        "AUTH5",
    ]
    assert {unit.unit.plan for unit in read(BOTH_READERS).declared[:6]} == {"AUTH"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("## AUTH1: log in", "AUTH1"),
        ("## AUTH1 - log in", "AUTH1"),
        ("## AUTH1—log in", "AUTH1"),
        ("##\tAUTH1:\tlog in", "AUTH1"),
        ("   ## AUTH1: log in", "AUTH1"),
        ("## AUTH1: log in ##", "AUTH1"),
        ("###### AUTH1: log in", "AUTH1"),
        ("## 3. AUTH1: log in", "AUTH1"),
        ("## 3) AUTH AUTH1: log in", "AUTH1"),
        ("## ✅ AUTH1: log in", "AUTH1"),
        ("## [x] AUTH1: log in", "AUTH1"),
        ("## **AUTH1**: log in", "AUTH1"),
        ("## `AUTH1` — log in", "AUTH1"),
        ("## [AUTH1](x.md) log in", "AUTH1"),
        ("## AUTH1 log in", "AUTH1"),
        ("## AUTH1. log in", "AUTH1"),
        ("## AUTH AUTH1 log in", "AUTH1"),
        ("## AUTH1", "AUTH1"),
        ("## AUTH-login: log in", "AUTH-login"),
        ("## AUTH2a: x", "AUTH2a"),
        ("## AUTH3.1.2 — x", "AUTH3.1.2"),
        ("## AUTH-4: x", "AUTH-4"),
        ("## AUTH4-retry: x", "AUTH4-retry"),
        ("## it's/AUTH1'b: x", "it's/AUTH1'b"),
        ("## X U1: of another plan", "U1"),
        ("- [ ] AUTH1: log in", "AUTH1"),
        ("* [x] AUTH1 log in", "AUTH1"),
        ("1. [X] **AUTH1** log in", "AUTH1"),
        ("  + [ ] AUTH AUTH1 — log in", "AUTH1"),
        ("- [ ] OTHER7: log in", "OTHER7"),
        ("| AUTH1 | log in |", "AUTH1"),
        ("| **AUTH1** log in | x |", "AUTH1"),
        ("| [AUTH1](x.md) | log in |", "AUTH1"),
        ("| id | what |\n|----|:--:|\n| OTHER7 | log in |", "OTHER7"),
        ("| Unit | what |\n|---|---|\n| AUTH OTHER7 | log in |", "OTHER7"),
    ],
)
def test_an_id_is_found_where_people_write_it(line, found):
    assert ids(line) == [found]


@pytest.mark.parametrize(
    "line",
    [
        "AUTH1: a paragraph",
        "AUTH1: log in\n===",
        "AUTH1: log in\n---",
        "# AUTH1: the title of the document",
        "####### AUTH1: too deep",
        "##AUTH1: no space",
        "    ## AUTH1: code by its indent",
        "\t## AUTH1: code by its indent",
        "## H2 database",
        "## Python3",
        "## **OAuth2** support",
        "## AUTH-related notes",
        "## AUTHENTICATION: words",
        "## AUTH1-AUTH3: several",
        "## AUTH1–AUTH3: several",
        "## AUTH1..AUTH3 several",
        "- AUTH1: an item without a box",
        "- [ ] H2 tests pass",
        "- **OAuth2** tokens",
        "| S3 | bucket |",
        "| what | id |\n|---|---|\n| OTHER7 | x |",
        "| id | what |\n|---|---|\n| OTHER7 and more | x |",
        "> ## AUTH1: quoted",
        "```\n## AUTH1: code\n```",
        "~~~~md\n```\n## AUTH1: code\n```\n~~~\n## AUTH2: code\n~~~~",
        "- ```\n  ## AUTH1: code\n  ```",
        "<!-- ## AUTH1: hidden -->",
        "<!--\n## AUTH1: hidden\n-->",
        "---\nplan: AUTH\nAUTH1: x\n---",
        "",
    ],
)
def test_what_only_looks_like_a_unit_is_none(line):
    assert ids(line) == []


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n## FAKE1: x\n```\n",
        "~~~\n```\n~~~\n",
        "<!-- one --> <!-- two -->\n",
        "<!--\n```\n-->\n",
        "a line with `<!--` in it\n",
        "```not a fence```\n",
        "---\n## no front matter\n---\n",
        "---\n\n---\n",
    ],
)
def test_what_is_hidden_ends_where_it_ends(hidden):
    assert ids(f"{hidden}## AUTH1: after\n") == ["AUTH1"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_a_byte_order_mark_change_nothing(ending, mark):
    document = read(mark + DOCUMENT.replace("\n", ending), plan="PLAN", document="p.md")
    assert document == read(DOCUMENT, plan="PLAN", document="p.md")


def test_other_separators_of_lines_are_characters_like_any():
    unit = only("## AUTH1: a\u2028b\x0cc\x85d\n")
    assert (unit.title, unit.line) == ("a\u2028b\x0cc\x85d", 1)


@pytest.mark.parametrize(
    "line", ["- tests: may-change", "* **Tests:** `may change`", "- tests: May_Change"]
)
def test_a_unit_states_that_tests_may_change(line):
    unit = only(f"## AUTH1: log in\n\nProse.\n\n{line}\n")
    assert unit.tests_may_change and unit.text == "Prose."


@pytest.mark.parametrize(
    "line", ["- tests: add one for the login", "- tests:", "- test: may-change", "- text: short"]
)
def test_other_words_about_tests_are_prose(line):
    unit = only(f"## AUTH1: log in\n\n{line}\n")
    assert not unit.tests_may_change and not unit.unparseable and unit.text == line


def test_a_unit_whose_tests_may_change_is_another_task():
    kept, changed = only("## AUTH1: x\n"), only("## AUTH1: x\n- tests: may-change\n")
    assert kept.fingerprint != changed.fingerprint


def test_a_unit_states_its_fields():
    unit = only(
        "## AUTH1: log in\n\nProse.\n\n- **Lane:** api\n"
        "* paths:\n    - src/a.py\n    - `src/b.py`\n"
        "+ acceptance: `make test`\n- depends on: AUTH2, BILL/BILL3 and CORE CORE4\n"
        "- class: draft\n"
        "- gated: the operator picks a vendor\n- soak until: 2026-08-20\n\nMore.\n"
    )
    assert (unit.lane, unit.paths, unit.acceptance) == (
        "api",
        ("src/a.py", "src/b.py"),
        "make test",
    )
    assert unit.depends == ("AUTH2", "BILL/BILL3", "CORE/CORE4")
    assert (unit.plan_class, unit.gated, unit.soak_until) == (
        "draft",
        "the operator picks a vendor",
        "2026-08-20",
    )
    assert unit.claimed == PlanClaim.BLOCKED
    assert unit.text == "Prose.\n\n\nMore."


@pytest.mark.parametrize(
    ("written", "paths"),
    [
        ("src/**", ("src/**",)),
        ("`src/**`, **/*.py", ("src/**", "**/*.py")),
        ("`a b.py`", ("a b.py",)),
        (" , ,", ()),
    ],
)
def test_globs_keep_their_stars(written, paths):
    assert only(f"## AUTH1: x\n- **Paths:** {written}\n").paths == paths


def test_right_below_a_heading_a_field_needs_no_bullet():
    unit = only("## AUTH1: log in\n\nlane: api\ndepends: AUTH2\nProse: status: x\nlane: web\n")
    assert (unit.lane, unit.depends, unit.text) == (
        "api",
        ("AUTH2",),
        "Prose: status: x\nlane: web",
    )


@pytest.mark.parametrize(
    "line", ["- class: `Foo` keeps its name", "- classes: many", "- the lane: api", "lane: api"]
)
def test_prose_is_no_field(line):
    assert line in only(f"## AUTH1: x\n\nProse.\n{line}\n").text


@pytest.mark.parametrize("value", ["none", "no", "-", "", "—", "N/A"])
def test_saying_that_there_is_nothing_is_saying_nothing(value):
    unit = only(f"## AUTH1: x\n- depends: {value}\n- gated: {value}\n- soak until: {value}\n")
    assert (unit.depends, unit.gated, unit.soak_until, unit.claimed) == ((), "", "", PlanClaim.OPEN)


def test_a_section_holds_the_headings_below_it_that_are_no_units():
    first, child, last = read(
        "## AUTH1: a\nA.\n#### Details\nB.\n- lane: api\n"
        "### AUTH1.1: b\nC.\n### Notes\nD.\n## Elsewhere\nE.\n## AUTH2: c\n"
    ).units
    assert first.text == "A.\n#### Details\nB.\n### Notes\nD."
    assert (first.lane, child.lane) == ("api", "")
    assert (child.text, last.text) == ("C.", "")


def test_an_item_has_what_is_indented_below_it_and_what_the_unit_around_it_states():
    parent, first, second = read(
        "## 1. AUTH AUTH1 — a\n- **AUTH1.1 — b**\n  Do it well.\n  - lane: web\n"
        "- **AUTH1.2** c\n\n- lane: api\n- class: draft\n"
    ).units
    assert (first.title, first.text, first.lane) == ("b", "Do it well.", "web")
    assert (second.title, second.lane, second.plan_class) == ("c", "api", "draft")
    assert "AUTH1.1" in parent.text and parent.lane == "api"


def test_a_checklist_inside_a_unit_is_its_own_business():
    assert ids("## AUTH1: a\n- [ ] OAuth2: tokens rotate\n- [ ] AUTH1.1: a part\n") == [
        "AUTH1",
        "AUTH1.1",
    ]


def test_a_numbered_heading_of_prose_ends_the_plan_that_bullets_are_taken_for():
    text = "## 1. PLAN U1 — a\n- **V2 — b**\n## 2. Background\n- **X3 — c**\n"
    assert [(unit.unit.plan, unit.unit.id) for unit in read(text).declared] == [
        ("PLAN", "U1"),
        ("PLAN", "V2"),
    ]


def test_a_row_states_fields_by_the_header_of_its_table():
    unit = only(
        "| Phase | Title | Lane | Needs | Status | Risk |\n|---|---|---|---|---|---|\n"
        "| AUTH1 | log \\| in | api | AUTH2 | blocked | high |\n"
    )
    assert (unit.title, unit.lane, unit.depends, unit.claimed) == (
        "log | in",
        "api",
        ("AUTH2",),
        PlanClaim.BLOCKED,
    )
    assert unit.text == "Risk: high"


@pytest.mark.parametrize("mark", ["✅", "✔️", "[x]", "✅ SHIPPED", "✅ (shipped)"])
@pytest.mark.parametrize("cell", ["X5", "**X5**", "~~X5~~"])
@pytest.mark.parametrize("plan", ["X", "OTHER"])
def test_a_mark_behind_the_id_of_a_row_is_no_title(plan, cell, mark):
    table = (
        "| Unit | Title | Lane |\n|---|---|---|\n| X4 | second | api |\n"
        f"| {cell} {mark} | third | api |\n"
    )
    _, unit = read(table, plan=plan).units
    assert (unit.id, unit.title, unit.lane, unit.claimed) == (
        "X5",
        "third",
        "api",
        PlanClaim.SHIPPED,
    )


def test_a_heading_and_a_row_of_one_id_are_one_unit():
    table = "| id | lane | status |\n|---|---|---|\n| AUTH1 | web | ✅ |\n"
    for text in (
        f"{table}\n## 1. AUTH AUTH1 — log in\n- lane: api\n",
        f"## 1. AUTH AUTH1 — log in\n- lane: api\n\n{table}",
    ):
        (declared,) = read(text, plan="OTHER").declared
        assert declared.source == "header+table-row"
        assert (declared.unit.name, declared.unit.title) == ("AUTH/AUTH1", "log in")
        assert (declared.unit.lane, declared.unit.claimed) == ("api", PlanClaim.SHIPPED)


@pytest.mark.parametrize(
    "line",
    [
        "## AUTH1: log in ✅",
        "## ✓ AUTH1: log in",
        "## [x] AUTH1: log in",
        "## AUTH1: log in (SHIPPED)",
        "## AUTH1 — SHIPPED 2026-01-01 — log in",
        "## AUTH1: log in — shipped in 1a2b3c4",
        "## AUTH1: log in **shipped**",
        "## AUTH1: was SHIPPED",
        "- [x] AUTH1: log in",
        "| AUTH1 | log in | ✅ |",
        "| AUTH1 | log in | [x] |",
        "| AUTH1 | shipped |",
        "| id | status |\n|---|---|\n| AUTH1 | done |",
        "## AUTH1: log in\n- status: shipped",
    ],
)
def test_a_stamp_of_its_own_says_shipped(line):
    assert claimed(line) == {"AUTH1": PlanClaim.SHIPPED}


@pytest.mark.parametrize(
    "text",
    [
        "## AUTH1: log in\nIt shipped last week. ✅ SHIPPED\n",
        "## AUTH1: log in\n### AUTH1 notes SHIPPED\n",
        "## AUTH1: log in\n### Part one ✅\n- [x] tests\n",
        "## AUTH1: log in NOT SHIPPED",
        "## AUTH1: log in (not yet shipped)",
        "## AUTH1: log in UNSHIPPED",
        "## AUTH1: log in, un-shipped",
        "## AUTH1: tell people when an order has shipped",
        "- [ ] AUTH1: log in",
        "| id | status |\n|---|---|\n| AUTH1 | not shipped |",
        "## AUTH1: log in\n- status: open",
    ],
)
def test_nothing_else_does(text):
    assert claimed(text)["AUTH1"] == PlanClaim.OPEN


def test_a_child_that_shipped_does_not_ship_its_parent_and_a_neighbour_does_not_ship_a_unit():
    text = (
        "## AUTH1: a\n### AUTH1.1: b ✅\n## AUTH2: c, after AUTH1 SHIPPED\n"
        "## AUTH3: d (AUTH2 ✅), SHIPPED\n"
    )
    assert claimed(text) == {
        "AUTH1": PlanClaim.OPEN, "AUTH1.1": PlanClaim.SHIPPED, "AUTH2": PlanClaim.OPEN,
        "AUTH3": PlanClaim.SHIPPED,
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["SOAK", "soaking", "BLOCKED", "Awaiting review", "gated", "DEFERRED"]
)
def test_a_heading_can_say_that_it_is_held(word):
    assert claimed(
        f"## AUTH1: log in ({word})\nNobody is blocked.\n## AUTH2: x\nIt is BLOCKED.\n"
    ) == {
        "AUTH1": PlanClaim.BLOCKED,
        "AUTH2": PlanClaim.OPEN,
    }


def test_a_status_that_nobody_knows_claims_nothing():
    assert claimed("## AUTH1: log in\n- status: purple\n") == {"AUTH1": PlanClaim.NONE}


def test_front_matter_names_the_plan_the_lane_and_the_class():
    front = "---\nplan: BILL  # ours\nlane: 'api'\nclassification: draft\ntags:\n  - x\n---\n"
    first, second = read(
        f"{front}## B1: a\n## B2: b\n- lane: web\n- class: active\n", plan="DOC"
    ).units
    assert (first.name, first.lane, first.plan_class, first.line) == ("BILL/B1", "api", "draft", 8)
    assert (second.lane, second.plan_class) == ("web", "active")


@pytest.mark.parametrize(
    ("text", "line"), [("## A1: x\n\n~~~\n## A2: y\n", 3), ("## A1: x\n<!--\n## A2: y\n", 2)]
)
def test_what_has_no_end_is_a_problem_with_its_place(text, line):
    document = read(text, document="docs/a.md")
    assert [unit.id for unit in document.units] == ["A1"]
    (problem,) = document.problems
    assert problem.kind is ProblemKind.NOT_CLOSED
    assert str(problem).startswith(f"docs/a.md:{line}: ")


def test_a_second_heading_of_a_unit_is_a_problem_and_a_mention_is_none():
    document = read(
        "## AUTH1: a\n## AUTH1 in detail\n## AUTH1: again\n", plan="AUTH", document="a.md"
    )
    assert [unit.title for unit in document.units] == ["a"]
    assert [str(problem) for problem in document.problems] == [
        "a.md:3: unit AUTH/AUTH1 has its heading in line 1 already"
    ]


def test_a_heading_of_several_units_is_a_problem():
    (problem,) = read("## AUTH1-AUTH3: all of it\n", document="a.md").problems
    assert problem.kind is ProblemKind.RANGE and "AUTH1-AUTH3" in str(problem)


def test_the_levels_and_the_tables_are_for_the_grammar_to_say():
    text = "# AUTH1: a\n## AUTH2: b\n| AUTH3 | c |\n"
    assert ids(text, grammar=Grammar(heading_levels=(1,))) == ["AUTH1", "AUTH3"]
    assert ids(text, grammar=Grammar(scan_tables=False)) == ["AUTH2"]


def test_documents_in_which_nothing_has_an_id_are_counted_and_hold_no_work():
    document = read("## 1. Background\nWhy.\n## 2. Design\n")
    assert [(unit.unit.id, unit.unit.title, unit.source) for unit in document.declared] == [
        ("1", "Background", "generic-header"),
        ("2", "Design", "generic-header"),
    ]
    assert document.units == ()


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("docs/auth-plan.md", "AUTH"),
        ("PLAN.md", "PLAN"),
        ("a/b/v1.2-plan.md", "V1.2"),
        ("noext", "NOEXT"),
        ("", ""),
    ],
)
def test_a_plan_is_called_as_its_file(name, plan):
    assert plan_name(name) == plan
