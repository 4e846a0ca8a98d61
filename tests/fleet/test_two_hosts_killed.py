"""Two supervisors under two hosts' names share one journal, and all of one host dies at once."""

import pytest
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from patience import PATIENCE, wait_for
from promises import broken

LEFT, RIGHT = {"DISPATCH_HOST_ID": "left"}, {"DISPATCH_HOST_ID": "right"}


def hosts_of(fleet: EngineFleet, kind: str) -> dict[str, str]:
    return {fact["lane"]: fact["host"] for fact in fleet.facts(kind)}


@pytest.mark.soak
def test_what_a_dead_host_was_at_is_done_by_the_other_when_its_leases_have_run_out(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 2, "two": 2}, ttl=4.0) as fleet:
        go_on = fleet.home / "go-on"  # where agents can see it
        fleet.play(
            {"*": [[EDIT, {"run": f"until test -e {go_on}; do sleep 0.1; done"}, COMMIT, DONE]]}
        )
        fleet.up("--target", "1", **LEFT)
        wait_for(lambda: len(fleet.edits()) == 1, "the left host is at work")
        right = fleet.up("--target", "2", "--until-idle", **RIGHT)
        wait_for(lambda: len(fleet.edits()) == 2, "the right host is at work")
        before = hosts_of(fleet, "worker_spawned")
        assert sorted(before.values()) == ["left", "right"], "no lane is started twice"
        fleet.kill(fleet.processes(**LEFT))  # the agents die with their workers
        go_on.touch()
        assert right.wait(timeout=PATIENCE) == 0, fleet.story()
        assert set(hosts_of(fleet, "worker_spawned").values()) == {"right"}, (
            "the newest worker of each lane"
        )
        reaped = [fact["reason"] for fact in fleet.facts("worker_reaped")]
        assert set(reaped) <= {"its lease is over"}, (
            "of another host nobody can say that a process is gone"
        )
        assert len(fleet.facts("lease_expired")) + len(reaped) == 1, (
            "the one lease ended once, by its time"
        )
        assert broken(fleet) == []


@pytest.mark.soak
def test_two_hosts_that_come_back_after_a_power_cut_share_the_work_again(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 2, "two": 2}, ttl=4.0) as fleet:
        fleet.play({"*": [[EDIT, {"sleep": 1}, COMMIT, DONE]]})
        for host in (LEFT, RIGHT):
            fleet.up("--target", "1", **host)
        wait_for(lambda: len(fleet.edits()) >= 2, "both are at work")
        fleet.kill_everything()
        again = [fleet.up("--target", "1", "--until-idle", **host) for host in (LEFT, RIGHT)]
        assert [process.wait(timeout=PATIENCE) for process in again] == [0, 0], fleet.story()
        assert broken(fleet) == []
