"""A fleet that has nothing to do, or may not do it, starts nobody: no worker, no agent, and so no
call of a model.
"""

import time
from typing import Any

import pytest
from engine_fleet import WORK, EngineFleet
from patience import PATIENCE, wait_for
from promises import broken

FAR_AWAY_SECONDS = 6 * 3600
LIMITED = [{"limit": FAR_AWAY_SECONDS}]
RESTING = {"idle": [WORK], "gated": [LIMITED]}
STARTED = ("spawn_intended", "worker_spawned", "agent_started", "lease_granted")


def at_rest(fleet: EngineFleet, why: str) -> None:
    """Everything has landed, or a limit holds until much later."""
    fleet.play({"*": RESTING[why]})
    fleet.up("--target", "2")
    if why == "idle":
        wait_for(lambda: len(fleet.facts("run_stopped")) == 2, "everything has landed")
    else:
        wait_for(lambda: fleet.facts("limit_hit"), "the limit is hit")
        wait_for(lambda: len({fact["lane"] for fact in resting(fleet)}) == 2, "both lanes rest")


def resting(fleet: EngineFleet) -> list[dict[str, Any]]:
    """One lane may say it twice before the other does once."""
    return [*fleet.facts("run_parked"), *fleet.facts("run_stopped")]


def started(fleet: EngineFleet) -> dict[str, int]:
    return {"agents": len(fleet.agent_starts())} | {
        kind: len(fleet.facts(kind)) for kind in STARTED
    }


def stays_at_rest(fleet: EngineFleet, seconds: float) -> None:
    before, words = started(fleet), len(fleet.events())
    time.sleep(seconds)
    assert started(fleet) == before
    kinds = {event.kind for event in fleet.events()[words:]}
    assert kinds <= {"lease_renewed"}, "and it has nothing to tell"


@pytest.mark.soak
@pytest.mark.parametrize("why", RESTING)
def test_a_fleet_at_rest_starts_nobody(tmp_path, why):
    with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1}) as fleet:
        at_rest(fleet, why)
        stays_at_rest(fleet, 5)
        assert fleet.dos("down").returncode == 0
        assert fleet.started[-1].wait(timeout=PATIENCE) == 0
        assert broken(fleet, all_landed=why == "idle") == []


@pytest.mark.soak
def test_fleets_that_rest_for_long_start_nobody(tmp_path):
    lanes = {"one": 1, "two": 1}
    with (
        EngineFleet(tmp_path / "idle", lanes) as idle,
        EngineFleet(tmp_path / "gated", lanes) as gated,
    ):
        at_rest(idle, "idle")
        at_rest(gated, "gated")
        before = started(idle), started(gated)
        stays_at_rest(idle, 60)
        assert (started(idle), started(gated)) == before


def test_a_limit_outlives_everybody_who_knew_of_it(tmp_path):
    """Killed and started again, the fleet asks nobody whether the limit still holds."""
    with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1}) as fleet:
        at_rest(fleet, "gated")
        agents = len(fleet.agent_starts())
        fleet.kill_everything()
        fleet.up("--target", "2")
        wait_for(lambda: len(fleet.facts("fleet_started")) == 2, "the fleet is up again")
        time.sleep(4)
        assert len(fleet.agent_starts()) == agents
