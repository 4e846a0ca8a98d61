"""Eight workers behind walls while all kinds of their processes are killed at random.

Nothing is lost, nothing is done twice, and no process, folder or file is left behind.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from amounts import long
from kill_storm import LANES, WEIGHTS, KillStorm
from leftovers import left_paths, left_processes
from patience import wait_for
from promises import broken

SECONDS = float(os.environ.get("DOS_STORM_SECONDS") or long(45, 300))
UNITS_OF_A_LANE = max(3, int(SECONDS / 15))
RARE = {"other", "check", "git"}  # on a slow machine a short storm may meet none

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="what is left is looked for in /proc"
)


@pytest.fixture
def storm(monkeypatch) -> Iterator[KillStorm]:
    """A fleet below the home, since /tmp and /dev/shm are special behind walls."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(dir=parent))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "fleet" / "state"))
    temporary = Path(tempfile.mkdtemp(prefix="storm", dir="/tmp"))
    storm = KillStorm(home / "fleet", temporary, units_per_lane=UNITS_OF_A_LANE, seed=8)
    with storm.fleet:
        yield storm
    shutil.rmtree(home)
    shutil.rmtree(temporary)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS * 4 + 2400)
def test_eight_workers_in_a_storm_of_kills_lose_double_and_leave_nothing(storm):
    fleet = storm.fleet
    storm.start()
    wait_for(lambda: len(fleet.facts("agent_started")) >= LANES // 2, "the agents are at work")
    storm.rage(SECONDS)
    landed = len(fleet.facts("unit_landed"))
    storm.kill_all()
    rounds = storm.drain()
    sys.stdout.write(
        f"killed {storm.killed.total()}: {dict(storm.killed)}; {storm.starts} supervisors and "
        f"{len(fleet.facts('worker_spawned'))} workers started; {landed} of {len(fleet.units)} "
        f"units landed in the storm, the others in {rounds} rounds afterwards\n"
    )
    assert broken(fleet) == []
    assert left_processes(fleet.home, storm.mark) == []
    state_home = fleet.home / "state"
    assert left_paths(fleet.root / ".git", state_home, storm.temporary, fleet.lanes) == []
    assert fleet.git("status", "--porcelain") == ""
    fleet.git("fsck", "--strict", "--no-dangling")
    for words in (["doctor"], ["journal", "check"], ["plan"]):
        told = fleet.dos(*words)
        assert told.returncode == 0, told.stdout + told.stderr
    assert set(storm.killed) >= set(WEIGHTS) - RARE, "every kind was killed"
