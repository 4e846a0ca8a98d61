"""Killed between any two effects: the fleet goes on, nothing is done twice, nothing is lost,
nothing is left behind.
"""

from pathlib import Path
from typing import Any

import pytest
from amounts import long
from engine_fleet import COMMIT, DONE, EDIT, NO_WALLS, WORK, EngineFleet
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

# One boundary for each part of a worker's iteration; a soak has all of them.
WORKER = {
    "before its agent": "ClaimUnit:after:1",
    "after its agent": "MeasureWork:after:1",
    "while it lands": "MoveBranch:after:1",
    "after it landed": "Record/iteration_committed:after:1",
}
SUPERVISOR = ["SpawnWorker:after:1", "Record/worker_spawned:after:1", "RevokeLease:after:1"]
MACHINE = ["Record/agent_started:after:1", "MoveBranch:after:1"]
SOME = ("before its first line", "after its commit")  # of what an agent has done
SIZES = [pytest.param(SOME, id="some"), pytest.param(HALFWAY, id="all", marks=pytest.mark.soak)]


@pytest.mark.soak
def test_a_worker_killed(tmp_path):
    assert (
        problems_of(
            tmp_path, {when: killed_at(f"worker:{point}") for when, point in WORKER.items()}
        )
        == {}
    )


@pytest.mark.soak
def test_a_supervisor_killed(tmp_path):
    cases = {
        point: killed_at(f"supervisor:{point}", script=DIES_ONCE, deaths=2) for point in SUPERVISOR
    }
    assert problems_of(tmp_path, cases) == {}


@pytest.mark.soak
def test_a_machine_killed(tmp_path):
    assert (
        problems_of(tmp_path, {point: killed_at(f"all:worker:{point}") for point in MACHINE}) == {}
    )


@pytest.mark.soak
@pytest.mark.parametrize("moments", SIZES)
def test_an_agent_killed(tmp_path, moments):
    assert problems_of(tmp_path, {name: agent_dies(HALFWAY[name]) for name in moments}) == {}


@pytest.mark.soak
@pytest.mark.parametrize("moments", SIZES)
def test_a_worker_killed_beside_its_agent(tmp_path, moments):
    cases = {name: worker_dies_beside_its_agent(HALFWAY[name]) for name in moments}
    assert problems_of(tmp_path, cases) == {}


def test_workers_outlive_their_supervisor_and_the_next_one_adopts_them(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1}) as fleet:
        path = fleet.home / "seen"  # where agents can see it
        fleet.play(
            {"*": [[EDIT, {"run": f"until test -e {path}; do sleep 0.1; done"}, COMMIT, DONE]]}
        )
        first = fleet.up("--target", "2")
        wait_for(lambda: len(fleet.edits()) == 2, "both agents are at work")
        first.kill()
        first.wait()
        second = fleet.up("--target", "2", "--until-idle")
        [found] = wait_for(lambda: fleet.facts("fleet_found"), "the next one says what it found")
        path.touch()
        assert second.wait(timeout=PATIENCE) == 0, fleet.story()
        assert sorted(found["adopted_lanes"]) == ["one", "two"]
        assert len(fleet.facts("spawn_intended")) == len(fleet.agent_starts()) == 2
        assert broken(fleet) == []


# Every boundary, as a run without a kill passes them


def points_of(home: Path, units: int, role: str, script: dict[str, Any] | None = None) -> list[str]:
    walls = NO_WALLS if script is DIES_ONCE else ""
    with EngineFleet(home / "dry", {"one": units}, walls=walls) as fleet:
        fleet.play(script or {"*": [WORK]})
        assert fleet.until_idle("--target", "1") == 0
        assert broken(fleet) == []
        return boundaries(fleet, role)


@pytest.mark.soak
@pytest.mark.parametrize("who", ["", "all:"], ids=["the worker", "the machine"])
def test_killed_at_every_boundary_of_an_iteration(tmp_path, who):
    units = long(1, 2)
    points = points_of(tmp_path, units, "worker")
    assert len(points) > 20
    assert (
        problems_of(tmp_path, {point: killed_at(f"{who}{point}", units=units) for point in points})
        == {}
    )


@pytest.mark.soak
def test_a_supervisor_killed_at_every_boundary_of_a_fleet_in_which_a_worker_dies(tmp_path):
    points = points_of(tmp_path, 1, "supervisor", DIES_ONCE)
    assert {"RevokeLease", "SpawnWorker", "MintRun"} <= {point.split(":")[1] for point in points}
    cases = {point: killed_at(point, script=DIES_ONCE, deaths=2) for point in points}
    assert problems_of(tmp_path, cases) == {}
