"""A worker that finds nothing to offer has the plan groomed by an agent, and counts what came of
it.
"""

import pytest
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.worker.worker import Worker
from dos.loop.gate import Mode
from dos.loop.types import LoopState, StopReason
from dos.world import World

EMPTY = "# A plan\n\nNothing yet.\n"
REFILLED = (
    "# A plan\n\n## DEMO A1: first\n- lane: one\n"
    "- paths: one/**\n- acceptance: `test -s one/a.txt`\n"
)


@pytest.fixture
def drained(repository: Repository) -> Repository:
    (repository.root / "docs" / "demo-plan.md").write_text(EMPTY)
    repository.commit_all("Nothing to do")
    return repository


def work(repository: Repository, lane: str = "one"):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    run_id = run_ids.mint(1_700_000_000_000, 1, "test").run_id
    try:
        worker = Worker(lane=lane, run_id=run_id, state=LoopState(gate_mode=Mode.HARD))
        return drive(worker.work(), acting.performers())
    finally:
        acting.close()


def committed(repository: Repository) -> list[tuple[str, str]]:
    bodies = [
        event.body
        for event in World(repository.root).journal.events()
        if event.kind == "iteration_committed"
    ]
    return [
        (each["outcome"], (each["judged"] or {}).get("replan_productivity") or "")
        for each in bodies
    ]


def test_an_agent_refills_the_plan_and_the_unit_it_found_lands(drained):
    drained.play(
        {
            "REPLAN/one": [[write("docs/demo-plan.md", REFILLED), commit("Find work")]],
            "DEMO/A1": [[write("one/a.txt"), commit("Write a")]],
        }
    )
    stop = work(drained)
    assert stop.reason is StopReason.COMPLETE
    assert drained.subjects()[:2] == ["Write a", "Find work"]
    assert committed(drained) == [("GATE", ""), ("REPLAN_DONE", "PRODUCTIVE"), ("SHIPPED", "")]
    assert World(drained.root).journal.leases() == [], "the lease on the plans is given back"


def test_an_agent_that_says_it_found_work_and_did_not_is_not_believed(drained):
    drained.play({"REPLAN/one": [[{"say": "I have added ten units!"}]]})
    stop = work(drained)
    assert stop.reason in (
        StopReason.BENIGN_DRAIN,
        StopReason.REPLAN_STALLED,
        StopReason.DRAINED_TWICE,
    )
    assert {why for kind, why in committed(drained) if kind == "REPLAN_DONE"} == {"UNPRODUCTIVE"}
    assert drained.subjects() == ["Nothing to do", "Begin"]


@pytest.mark.soak
def test_grooming_the_plan_is_no_leave_to_change_anything_else(drained):
    stray = [
        write("docs/demo-plan.md", REFILLED),
        write("one/a.txt"),
        commit("Find work, and do it"),
    ]
    drained.play({"REPLAN/one": [stray]})
    work(drained)
    assert drained.subjects() == ["Nothing to do", "Begin"]
