"""`dos account`: where every unit of the plans is."""

import pytest
from commanding import git

from dos import workspace as places
from dos.journal.events.fleet import FleetStarted
from dos.questions import state
from dos.questions.lanes import FailedUnit, UnitsFailed
from dos.world import open_journal

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
    assert "on cooldown   P/P1" in answer.out


def test_a_restart_clears_no_cooldown_and_a_rewritten_unit_has_none(dos, planned):
    dos("attempt", "P/P1", "--outcome", "drained")
    with open_journal(places.find(planned), "") as journal:
        journal.record("fleet", FleetStarted(host="h", pid=1, target=1))
    assert (dos("pickable", "P1").code, dos("cooldown", "P1").code) == (23, 3)
    assert dos("account", "--json").json["resting"] == ["P/P1"]
    (planned / "docs" / "p-plan.md").write_text(PLAN.replace("first", "first, said more clearly"))
    assert (dos("pickable", "P1").code, dos("cooldown", "P1").code) == (0, 0)
    assert "its text has changed since" in dos("cooldown", "P1").out
    assert dos("account", "--json").json["open"] == ["P/P1"]


def test_an_answered_retry_ends_the_cooldown_for_every_verb_that_tells_why(dos, planned):
    dos("attempt", "P/P1", "--outcome", "drained")
    question = UnitsFailed.ask("api", "RID-1", [FailedUnit(unit="P/P1", why="no commit was made")])
    with open_journal(places.find(planned), "") as journal:
        journal.append_all([state.raise_entry(question)])
    assert dos("pickable", "P1").code == 11, "it waits for the answer"
    assert dos("account", "--json").json["held"]["P/P1"] == "OPERATOR_GATED"
    assert "Unit P/P1 can start again" in dos("decide-for", "api", "retry").out
    assert (dos("pickable", "P1").code, dos("cooldown", "P1").code) == (0, 0)
    assert dos("account", "--json").json["open"] == ["P/P1"]
    assert dos("packet").code == 0
    dos("attempt", "P/P1", "--outcome", "drained")
    assert dos("pickable", "P1").code == 23, "the next failure counts again"
