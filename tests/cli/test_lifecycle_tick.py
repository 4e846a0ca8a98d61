"""`dos lifecycle tick` moves plans of which git has every unit, in one commit."""

import pytest
from commanding import in_process

from dos.journal import streams
from dos.journal.events.doors import LifecycleTicked
from dos.journal.events.reader import select
from dos.world import World

NAME = "docs/demo-plan.md"
PLAN = "## DEMO A1: first\n- lane: one\n- paths: one/**\n"


@pytest.fixture
def workspace(repository):
    """A plan with one unit that landed, and another plan with an open one."""
    (repository.root / NAME).write_text(PLAN)
    (repository.root / "docs" / "more-plan.md").write_text(PLAN.replace("DEMO", "MORE"))
    repository.git("add", "docs")
    repository.git("commit", "--quiet", "-m", "Plan")
    (repository.root / "one").mkdir(exist_ok=True)
    (repository.root / "one" / "a.txt").write_text("x\n")
    repository.git("add", "one/a.txt")
    repository.git("commit", "--quiet", "-m", "Write a\n\nUnit: DEMO/A1")
    return repository


def tick(workspace, *words):
    return in_process("--workspace", str(workspace.root), "lifecycle", "tick", *words)


def text(workspace):
    return (workspace.root / NAME).read_text()


def cycles(workspace):
    with World(workspace.root) as world:
        return [fact for _, fact in select(world.journal.load(streams.LIFECYCLE), LifecycleTicked)]


def head(workspace):
    return workspace.git("rev-parse", "HEAD").strip()


def test_a_dry_run_says_what_is_due_and_writes_nothing(workspace):
    before = head(workspace)
    answer = tick(workspace, "--dry-run", "--json")
    assert answer.code == 3
    assert answer.json == {
        "dry_run": True,
        "commit": "",
        "moves": [
            {
                "plan": "DEMO", "document": NAME, "from_class": "active", "to_class": "done",
                "trigger": "all_phases_shipped", "outcome": "due", "reason": "",
            }
        ],
    }  # fmt: skip
    assert (head(workspace), text(workspace), cycles(workspace)) == (before, PLAN, [])


def test_a_cycle_moves_the_plan_in_one_commit_and_is_recorded(workspace):
    (workspace.root / "two").mkdir(exist_ok=True)
    (workspace.root / "two" / "mine.txt").write_text("work in progress\n")
    workspace.git("add", "two/mine.txt")
    answer = tick(workspace, "--json")
    assert answer.code == 0, answer.err
    assert [move["outcome"] for move in answer.json["moves"]] == ["moved"]
    assert answer.json["commit"] == head(workspace)
    assert text(workspace) == f"---\nclassification: done\n---\n\n{PLAN}"
    assert workspace.git("show", "--name-only", "--format=", "HEAD").split() == [NAME]
    (cycle,) = cycles(workspace)
    assert cycle.commit == head(workspace)
    audit = in_process("--workspace", str(workspace.root), "commit-audit", "HEAD", "--json")
    assert audit.code == 0
    assert tick(workspace).out == "No plan is due for another class.\n"
    verdict = in_process("--workspace", str(workspace.root), "verify", "DEMO", "A1")
    assert verdict.code == 0, "the edit of the plan undoes nothing"


def test_a_plan_that_moved_rests(workspace):
    tick(workspace)
    (workspace.root / "dos.toml").open("a").write(
        '\n[[lifecycle.transitions]]\nfrom = "done"\nto = "active"\n'
        'trigger = "any_phase_shipped"\nauto = true\n'
    )
    assert [move["outcome"] for move in tick(workspace, "--dry-run", "--json").json["moves"]] == [
        "cooldown"
    ]
    later = str(4 * 24 * 3_600_000 + 10**13)
    assert [
        move["outcome"]
        for move in tick(workspace, "--dry-run", "--json", "--now-ms", later).json["moves"]
    ] == ["due"]


def test_uncommitted_work_in_a_plan_is_left_alone(workspace):
    edited = PLAN.replace("first", "the first")
    (workspace.root / NAME).write_text(edited)
    before = head(workspace)
    answer = tick(workspace)
    assert answer.code == 3 and "uncommitted changes" in answer.out
    assert (head(workspace), text(workspace)) == (before, edited)


def test_only_named_plans_move_and_a_mistyped_one_is_an_error(workspace):
    assert tick(workspace, "MORE", "--json").json["moves"] == []
    wrong = tick(workspace, "DEMON")
    assert wrong.code == 2 and "DEMO" in wrong.err
    assert text(workspace) == PLAN


def test_an_empty_commit_moves_no_plan(workspace):
    workspace.git("commit", "--quiet", "--allow-empty", "-m", "Write a\n\nUnit: MORE/A1")
    assert [move["plan"] for move in tick(workspace, "--json").json["moves"]] == ["DEMO"]


def test_no_fleet_asks_about_a_move_in_a_plan_that_was_approved(workspace):
    from dos.approval.io.approve import approve
    from dos.config.load import load
    from dos.workspace import find
    from dos.world import open_journal

    found = find(workspace.root)
    with open_journal(found, "") as store:
        approve(found, load(found.root), store, by="me")
    assert tick(workspace).code == 0
    asked = in_process("--workspace", str(workspace.root), "decisions", "--json")
    assert asked.json == []


def test_an_agent_may_look_and_not_move(workspace, monkeypatch):
    monkeypatch.setenv("DOS_LANE", "one")
    monkeypatch.setenv("DOS_FENCE", "7")
    monkeypatch.setenv("DOS_WORKSPACE", str(workspace.root))
    assert tick(workspace, "--dry-run").code == 3
    assert tick(workspace).code == 77
    assert text(workspace) == PLAN


def test_other_sources_have_no_classes(workspace):
    (workspace.root / "dos.toml").open("a").write('\n[plans]\nsource = "beads"\n')
    answer = tick(workspace, "--dry-run")
    assert answer.code == 2 and "no class" in answer.err
