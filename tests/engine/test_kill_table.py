"""Killed between any two effects: the fleet goes on, nothing is done twice, nothing is lost, nothing is left behind."""

import pytest
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from kill_cases import (
    DIES_ONCE,
    HALFWAY,
    agent_dies,
    boundaries,
    killed_at,
    problems_of,
    worker_dies_beside_its_agent,
)
from patience import PATIENCE, wait_for
from promises import broken

# One boundary for each kind of effect that a worker has; of its records, those on which the next step stands.
WORKER = {
    "before its agent": ["TakeLease:after:1", "SurveyBacklog:after:1", "ChooseAgent:after:1",
                         "ClaimUnit:after:1", "PrepareWorktree:after:1"],
    "after its agent": ["RunAgent:after:1", "SaveChanges:after:1", "MeasureWork:after:1", "PrepareLanding:after:1",
                        "Record/landing_intended:after:1"],
    "while it lands": ["MoveBranch:after:1", "IssueReceipt:after:1", "RecordAll:after:1"],
    "after it landed": ["SaveCommits:after:1", "Record/iteration_committed:after:1", "ReleaseLease:before:1"],
}  # fmt: skip
SUPERVISOR = ["SpawnWorker:after:1", "Record/worker_spawned:after:1", "RevokeLease:after:1"]
MACHINE = ["Record/agent_started:after:1", "MoveBranch:after:1"]


@pytest.mark.parametrize("points", WORKER.values(), ids=WORKER)
def test_a_worker_killed(tmp_path, points):
    assert problems_of(tmp_path, {point: killed_at(f"worker:{point}") for point in points}) == {}


def test_a_supervisor_killed(tmp_path):
    cases = {point: killed_at(f"supervisor:{point}", script=DIES_ONCE, deaths=2) for point in SUPERVISOR}
    assert problems_of(tmp_path, cases) == {}


def test_a_machine_killed(tmp_path):
    assert problems_of(tmp_path, {point: killed_at(f"all:worker:{point}") for point in MACHINE}) == {}


def test_an_agent_killed(tmp_path):
    assert problems_of(tmp_path, {name: agent_dies(done) for name, done in HALFWAY.items()}) == {}


def test_a_worker_killed_beside_its_agent(tmp_path):
    cases = {name: worker_dies_beside_its_agent(done) for name, done in HALFWAY.items()}
    assert problems_of(tmp_path, cases) == {}


def test_every_kind_of_effect_of_an_iteration_is_in_the_table(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 1}) as fleet:
        assert fleet.until_idle() == 0
        passed = {point.split(":")[1].partition("/")[0] for point in fleet.passed() if point.startswith("worker:")}
    tabled = {point.split(":")[0].partition("/")[0] for points in WORKER.values() for point in points}
    assert tabled == passed


def test_workers_outlive_their_supervisor_and_the_next_one_adopts_them(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1}) as fleet:
        seen = tmp_path / "seen"
        fleet.play({"*": [[EDIT, {"run": f"until test -e {seen}; do sleep 0.1; done"}, COMMIT, DONE]]})
        first = fleet.up("--target", "2")
        wait_for(lambda: len(fleet.edits()) == 2, "both agents are at work")
        first.kill()
        first.wait()
        second = fleet.up("--target", "2", "--until-idle")
        [found] = wait_for(lambda: fleet.facts("fleet_found"), "the next one says what it found")
        seen.touch()
        assert second.wait(timeout=PATIENCE) == 0, fleet.story()
        assert sorted(line.partition(":")[0] for line in found["adopted"]) == ["one", "two"]
        assert len(fleet.facts("spawn_intended")) == len(fleet.agent_starts()) == 2
        assert broken(fleet) == []


# Every boundary, as a run without a kill passes them


@pytest.fixture(scope="module")
def passed(tmp_path_factory) -> list[str]:
    with EngineFleet(tmp_path_factory.mktemp("dry") / "fleet", {"one": 2}) as fleet:
        assert fleet.until_idle("--target", "1") == 0
        assert broken(fleet) == []
        points = fleet.passed()
    second = points.index("worker:ChooseAgent:before:2")
    ends = [point for point in points[second:] if "run_stopped" in point or "ReleaseLease" in point]
    return [*(point for point in points[:second] if point.startswith("worker:")), *ends]


@pytest.mark.soak
@pytest.mark.parametrize("who", ["", "all:"], ids=["the worker", "the machine"])
def test_killed_at_every_boundary_of_an_iteration(tmp_path, passed, who):
    points = boundaries(passed, "worker")
    assert len(points) > 25
    assert problems_of(tmp_path, {point: killed_at(f"{who}{point}", units=2) for point in points}) == {}


@pytest.mark.soak
def test_a_supervisor_killed_at_every_boundary_of_a_fleet_in_which_a_worker_dies(tmp_path):
    with EngineFleet(tmp_path / "dry", {"one": 1}) as fleet:
        fleet.play(DIES_ONCE)
        assert fleet.until_idle("--target", "1") == 0
        points = boundaries(fleet.passed(), "supervisor")
    assert {"RevokeLease", "SpawnWorker", "MintRun"} <= {point.split(":")[1] for point in points}
    cases = {point: killed_at(point, script=DIES_ONCE, deaths=2) for point in points}
    assert problems_of(tmp_path, cases) == {}
