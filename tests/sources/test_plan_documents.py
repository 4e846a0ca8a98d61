"""Units from plan documents."""

import pytest

from dos.errors import BadInput
from dos.sources import plan_documents

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


def test_a_heading_with_an_id_is_a_unit():
    first, second = plan_documents.units(DOCUMENT, plan="PLAN", document="p.md")
    assert (first.name, first.title, first.lane) == ("AUTH/AUTH1", "log in", "api")
    assert first.text == "Make it possible to log in."
    assert first.paths == ("src/api/login.py", "src/api/session.py")
    assert first.acceptance == "pytest tests/test_login.py"
    assert (second.name, second.title, second.line) == ("PLAN/AUTH2", "log out", 12)


def test_documents_are_read_in_the_order_of_their_names_and_the_first_unit_wins(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b-plan.md").write_text("## X U1: later\n")
    (tmp_path / "docs" / "a-plan.md").write_text("## X U1: earlier\n## U2: own\n")
    found = plan_documents.read(tmp_path, "docs/**/*-plan.md")
    assert [(unit.name, unit.title) for unit in found] == [("X/U1", "earlier"), ("A/U2", "own")]


def test_a_document_that_is_not_text_is_read_without_an_error(tmp_path):
    (tmp_path / "x-plan.md").write_bytes(b"\xff\xfe\0## U1: odd\n")
    plan_documents.read(tmp_path, "*-plan.md")
    assert plan_documents.read(tmp_path, "*-plan.md") == []


def test_every_unit_is_found_also_those_whose_name_another_has(tmp_path):
    (tmp_path / "a-plan.md").write_text("## X U1: earlier\n## X U1: again\n")
    assert [unit.line for unit in plan_documents.every(tmp_path, "*-plan.md")] == [1, 2]
    assert [unit.title for unit in plan_documents.read(tmp_path, "*-plan.md")] == ["earlier"]


def test_a_document_that_cannot_be_read_is_not_an_empty_plan(tmp_path):
    (tmp_path / "a-plan.md").symlink_to("a-plan.md")
    with pytest.raises(BadInput, match=r"a-plan\.md cannot be read"):
        plan_documents.read(tmp_path, "*-plan.md")
