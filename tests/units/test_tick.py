"""Marking landed units in plan documents: the mark says shipped, and other lines stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.units.io.ticked_documents import tick, tick_documents, write_document
from dos.units.markdown import document
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim

LINES = [
    ("- [ ] AUTH1: log in", "- [x] AUTH1: log in"),
    ("  * [ ] AUTH1: log in", "  * [x] AUTH1: log in"),
    ("1. [ ] AUTH1: log in", "1. [x] AUTH1: log in"),
    ("## AUTH1: log in", "## AUTH1: log in ✅"),
    ("### AUTH AUTH1: log in ###", "### AUTH AUTH1: log in ✅ ###"),
    ("- **AUTH1 — log in**", "- **AUTH1 — log in** ✅"),
    ("| AUTH1 | log in |", "| AUTH1 | log in ✅ |"),
    ("| AUTH1 | log in | todo |", "| AUTH1 | log in | done |"),
    ("| AUTH1 | log in | **Open** |", "| AUTH1 | log in | done |"),
    ("AUTH1 | log in | api", "AUTH1 | log in ✅ | api"),
]


@pytest.mark.parametrize(("line", "ticked"), LINES)
def test_a_line_is_marked_as_people_do_it(line, ticked):
    assert tick(line, [1]) == ticked
    assert tick(f"first\r\n{line}\r\nlast", [2]) == f"first\r\n{ticked}\r\nlast"


UNIT_LINES = st.sampled_from(["## {id}: {title}", "- [ ] {id}: {title}", "### {id} — {title} ###"])
TITLES = st.sampled_from(["log in", "a | b", "keep `x` open", "say (when)", "1. more"])


@given(st.lists(st.tuples(UNIT_LINES, TITLES), min_size=1, max_size=6), st.data())
def test_a_marked_unit_is_claimed_and_the_others_are_as_they_were(forms, data):
    rows = [form.format(id=f"AUTH{n}", title=title) for n, (form, title) in enumerate(forms, 1)]
    text = "# A plan\n\n" + "\n\nProse.\n\n".join(rows) + "\n"
    units = document.read(text, plan="AUTH").units
    chosen = data.draw(st.sampled_from(units))
    marked = document.read(tick(text, [chosen.line]), plan="AUTH").units
    assert {unit.name: unit.claimed for unit in marked} == {
        unit.name: PlanClaim.SHIPPED if unit.name == chosen.name else unit.claimed for unit in units
    }


PLAN = """# Plan

## AUTH1: log in
- lane: api

## AUTH2: log out, then AUTH1 again
"""


def test_a_unit_whose_mark_would_not_be_read_is_left_and_named(tmp_path):
    path = tmp_path / "auth-plan.md"
    path.write_text(PLAN)
    units = document.read(PLAN, plan="AUTH", document="auth-plan.md").units
    (planned,) = tick_documents(tmp_path, units, Grammar())
    assert [unit.id for unit in planned.ticked] == ["AUTH1"]
    assert list(planned.refused) == ["AUTH/AUTH2"]
    assert path.read_text() == PLAN, "nothing is written before it is asked for"
    path.chmod(0o640)
    write_document(tmp_path, planned)
    assert path.read_text() == PLAN.replace("log in", "log in ✅", 1)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_document_that_is_no_utf_8_is_left_as_it_is(tmp_path):
    (tmp_path / "auth-plan.md").write_bytes(b"## AUTH1: caf\xe9\n")
    units = document.read("## AUTH1: x\n", plan="AUTH", document="auth-plan.md").units
    (planned,) = tick_documents(tmp_path, units, Grammar())
    assert planned.ticked == ()
    assert "UTF-8" in planned.refused["AUTH/AUTH1"]
