"""`dos account`: where every unit of the plans is."""

import pytest
from commanding import git

PLAN = """## P P1: first
- lane: api

## P P2: second
- lane: api
- class: draft
"""


@pytest.fixture
def planned(workspace):
    (workspace / "docs" / "p-plan.md").write_text(PLAN)
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Plan", cwd=workspace)
    return workspace


def test_without_a_plan_nothing_is_done(dos):
    answer = dos("account")
    assert (answer.code, answer.out.split("  ")[0]) == (0, "EMPTY")


def test_what_is_free_and_what_is_held_are_told_apart(dos, planned):
    answer = dos("account", "--json")
    assert (answer.code, answer.json["verdict"]) == (3, "OPEN")
    assert (answer.json["open"], answer.json["held"]) == (["P/P1"], {"P/P2": "DRAFT_CLASS"})


def test_what_was_tried_in_vain_rests_and_then_nothing_moves(dos, planned):
    dos("attempt", "P/P1", "--outcome", "drained")
    answer = dos("account")
    assert answer.code == 4
    assert "resting       P/P1" in answer.out
