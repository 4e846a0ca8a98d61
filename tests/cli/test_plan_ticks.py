"""`dos plan --tick` marks what has landed, and only that."""

import pytest
from commanding import in_process
from sample_repository import PLAN

from dos.journal import fold
from dos.questions.state import Decisions
from dos.world import World

NAME = "docs/demo-plan.md"


@pytest.fixture
def landed(repository):
    """DEMO/B1 is in git as its plan wants it; the others are not."""
    (repository.root / "two" / "c.txt").write_text("x\n")
    repository.git("add", "two/c.txt")
    repository.git("commit", "--quiet", "-m", "Write c\n\nUnit: DEMO/B1")
    return repository


def plan(repository, *words):
    return in_process("--workspace", str(repository.root), "plan", *words)


def text(repository):
    return (repository.root / NAME).read_text()


def test_a_landed_unit_is_ticked_once(landed):
    answer = plan(landed, "--tick")
    assert answer.code == 0, answer.err
    assert f"ticked DEMO/B1  {NAME}:13" in answer.out
    assert f"git commit -m 'Tick landed units' -- {NAME}" in answer.out
    assert text(landed) == PLAN.replace("B1: third", "B1: third ✅")
    again = plan(landed, "--tick", "--json")
    assert again.json == {"ticked": [], "refused": {}, "documents": [], "dry_run": False}


def test_a_dry_run_writes_nothing(landed):
    answer = plan(landed, "--tick", "--dry-run")
    assert answer.code == 0
    assert "would tick DEMO/B1" in answer.out
    assert text(landed) == PLAN


def test_a_claim_without_work_is_not_ticked(repository):
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Write c\n\nUnit: DEMO/B1")
    assert plan(repository, "--tick", "--json").json["ticked"] == []
    assert text(repository) == PLAN


def test_dry_run_without_tick_is_refused(repository):
    answer = plan(repository, "--dry-run")
    assert answer.code == 2
    assert "--dry-run needs --tick" in answer.err


def approve(repository):
    """As `dos up` does."""
    from dos.approval.io.approve import approve
    from dos.config.load import load
    from dos.workspace import find
    from dos.world import open_journal

    workspace = find(repository.root)
    with open_journal(workspace, "") as store:
        approve(workspace, load(workspace.root), store, by="me")


def questions(repository):
    return in_process("--workspace", str(repository.root), "decisions", "--json").json


def test_no_fleet_asks_about_ticks_in_a_plan_that_was_approved(landed):
    approve(landed)
    plan(landed, "--tick")
    assert questions(landed) == []
    with World(landed.root) as world:
        assert fold.current(world.journal, Decisions)[0].open == {}


def test_ticks_approve_no_other_edit(landed):
    approve(landed)
    easy = PLAN.replace("`test -s one/b.txt`", "`true`")
    (landed.root / NAME).write_text(easy)
    answer = plan(landed, "--tick")
    assert "has other edits that are not approved" in answer.out
    assert [question["about"] for question in questions(landed)] == ["plan_changed"]


def test_an_agent_may_not_ask_for_it(landed, monkeypatch):
    """It approves the text that it writes."""
    monkeypatch.setenv("DOS_LANE", "one")
    monkeypatch.setenv("DOS_FENCE", "7")
    monkeypatch.setenv("DOS_WORKSPACE", str(landed.root))
    answer = plan(landed, "--tick")
    assert answer.code == 77
    assert "dos plan --tick is for people" in answer.err
    assert text(landed) == PLAN
