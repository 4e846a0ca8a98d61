"""A disk without room, a journal that cannot be read, clocks that jump: nothing starts twice, and
nothing is broken.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from disk.limits import full_disk
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from patience import PATIENCE, wait_for
from promises import broken

SLOW = [EDIT, {"sleep": 2}, COMMIT, DONE]
WRONG_CLOCK = Path(__file__).with_name("wrong_clock")
HOUR_SECONDS = 3600


@pytest.fixture
def on_a_small_disk(tmp_path) -> Iterator[tuple[EngineFleet, Path]]:
    with full_disk(8 << 20) as small:
        if small.how != "tmpfs":
            pytest.skip("no small disk can be mounted here")
        tables = f'[store]\nurl = "sqlite:{small.directory}/state.db"'
        with EngineFleet(tmp_path / "fleet", {"one": 1, "two": 1}, tables=tables) as fleet:
            fleet.play({"*": [SLOW]})
            yield fleet, small.directory


def fill(directory: Path) -> Path:
    """Until nothing fits any more, however small."""
    ballast = directory / "ballast"
    with ballast.open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


@pytest.mark.soak
def test_without_room_for_the_journal_everybody_stops_and_with_room_everything_goes_on(
    on_a_small_disk,
):
    fleet, disk = on_a_small_disk
    supervisor = fleet.up("--target", "2")
    wait_for(lambda: len(fleet.edits()) == 2, "both agents are at work")
    ballast = fill(disk)
    assert supervisor.wait(timeout=PATIENCE) != 0
    [said] = [line for line in fleet.story().splitlines() if line.startswith("error: ")]
    assert "no space is left" in said and "Traceback" not in fleet.story()
    wait_for(lambda: fleet.processes() == [], "the workers stop where they would have written")
    before = [event.pos for event in fleet.events()]
    assert sorted(fleet.agent_starts()) == ["WORK/ONE1", "WORK/TWO1"]
    assert fleet.git("log", "--format=%s", "main") == "Begin"

    assert fleet.until_idle("--target", "2") == 2, "and nothing starts"
    assert [event.pos for event in fleet.events()] == before and len(fleet.agent_starts()) == 2
    assert fleet.facts("lease_revoked") == fleet.facts("worker_reaped") == []

    ballast.unlink()
    assert fleet.until_idle("--target", "2") == 0, fleet.story()
    assert broken(fleet) == []


@pytest.mark.soak
def test_a_journal_that_cannot_be_read_starts_nothing_until_it_can(tmp_path):
    with EngineFleet(tmp_path / "fleet", {"one": 1}) as fleet:
        fleet.play({"*": [SLOW]})
        fleet.up("--target", "1")
        wait_for(fleet.edits, "the agent is at work")
        fleet.kill_everything()
        journal = {
            path: path.read_bytes() for path in (fleet.root / ".git" / "dos").glob("state.db*")
        }
        for path, whole in journal.items():
            path.write_bytes(b"not a journal" * 100 + whole[1300:])
        assert fleet.until_idle() == 2
        assert (
            fleet.story().startswith("error: ")
            and "hint: " in fleet.story()
            and "Traceback" not in fleet.story()
        )
        assert len(fleet.agent_starts()) == 1 and fleet.processes() == []
        for path, whole in journal.items():
            path.write_bytes(whole)
        assert fleet.until_idle() == 0, fleet.story()
        assert len(fleet.agent_starts()) == 2 and broken(fleet) == []


@pytest.mark.soak
def test_clocks_that_jump_by_hours_rob_nobody(tmp_path):
    """The wall clock of every process, agents and supervisor alike, to and fro while both work."""
    clock = tmp_path / "clock"
    with EngineFleet(tmp_path / "fleet", {"one": 2, "two": 2}) as fleet:
        fleet.environment |= {"PYTHONPATH": str(WRONG_CLOCK), "TEST_CLOCK": str(clock)}
        fleet.play({"*": [SLOW]})
        supervisor = fleet.up("--until-idle", "--target", "2")
        jumps = 0
        while supervisor.poll() is None:
            jumps += 1
            replaced = clock.with_name("next")
            replaced.write_text(str(HOUR_SECONDS * (3 if jumps % 2 else -3)))
            os.replace(replaced, clock)
            with suppress(subprocess.TimeoutExpired):
                supervisor.wait(timeout=0.7)
        assert supervisor.returncode == 0, fleet.story()
        wall = [event.at_ms for event in fleet.events()]
        assert jumps > 4 and max(wall) - min(wall) > 2 * HOUR_SECONDS * 1000, "the clocks did jump"
        granted = [
            fact["asked"]["lane"]
            for fact in fleet.facts("lease_granted")
            if fact["asked"]["run_id"]
        ]
        assert sorted(granted) == ["one", "two"] and len(fleet.agent_starts()) == 4
        assert fleet.facts("lease_expired") == fleet.facts("lease_revoked") == []
        assert broken(fleet) == []
