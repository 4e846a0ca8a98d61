"""Fifty workers for minutes while workers, agents and supervisors are killed at random, beside a
resting fleet.
"""

import os
import random
import time
from collections.abc import Iterator

import psutil
import pytest
from amounts import long
from engine_fleet import COMMIT, DONE, EDIT, EngineFleet
from msgspec import Struct, field
from patience import PATIENCE, wait_for
from promises import broken, overlapping
from test_idle_fleet import at_rest, started

SECONDS = float(os.environ.get("DOS_SOAK_SECONDS") or long(80, 3_600))
LANES = 50
UNITS = 10  # of each lane: more than can be done
SLEEPS = (
    40,
    70,
    100,
    50,
    80,
    60,
)  # of the agents: so many workers share a machine only if they mostly wait
KILL_EVERY_SECONDS = 3.0
SUPERVISOR_DIES_AT = (0.15, 0.4)  # of the time
MOST_OF_A_CORE = 0.10  # one that looks too often, or never rests, takes a whole one
MOST_GROWTH_BYTES = 24_000_000


class Supervised(Struct, kw_only=True):
    """A supervisor while it lived."""

    process: psutil.Process
    seen: list[tuple[float, float, int]] = field(
        default_factory=list
    )  # when, seconds of a core so far, bytes

    def look(self) -> None:
        try:
            with self.process.oneshot():
                used = self.process.cpu_times()
                self.seen.append(
                    (time.monotonic(), used.user + used.system, self.process.memory_info().rss)
                )
        except psutil.NoSuchProcess:
            return

    @property
    def lived_seconds(self) -> float:
        return self.seen[-1][0] - self.seen[0][0] if self.seen else 0.0

    @property
    def core_seconds(self) -> float:
        """While it was watched: what the first one took to start fifty workers came before."""
        return self.seen[-1][1] - self.seen[0][1] if self.seen else 0.0

    @property
    def growth_bytes(self) -> int:
        """Since a fifth of its life was over."""
        grown = self.seen[-1][0] - 0.8 * self.lived_seconds
        return self.seen[-1][2] - next(size for at, _, size in self.seen if at >= grown)


class Chaos:
    def __init__(self, fleet: EngineFleet, chance: random.Random) -> None:
        self.fleet = fleet
        self.chance = chance
        self.supervisors: list[Supervised] = []
        self.killed = {"worker": 0, "agent": 0, "supervisor": 0}

    def start(self) -> None:
        process = self.fleet.up("--target", str(LANES), "--tick", "2")
        self.supervisors.append(Supervised(process=psutil.Process(process.pid)))

    def run(self, seconds: float) -> None:
        began, dies_at = time.monotonic(), [share * seconds for share in SUPERVISOR_DIES_AT]
        next_kill = began + KILL_EVERY_SECONDS
        while (now := time.monotonic()) < began + seconds:
            self.supervisors[-1].look()
            if dies_at and now - began > dies_at[0]:
                dies_at.pop(0)
                self._kill("supervisor", self.supervisors[-1].process)
                self.fleet.started[-1].wait()
                self.start()
            elif now >= next_kill:
                next_kill = now + KILL_EVERY_SECONDS
                role = self.chance.choice(["worker", "agent"])
                found = sorted(self._all(role), key=lambda process: process.pid)
                if found:
                    self._kill(role, self.chance.choice(found))
            time.sleep(0.5)

    def _all(self, role: str) -> Iterator[psutil.Process]:
        marks = {"worker": "worker", "agent": "dos.testing.scripted_agent"}
        for process in self.fleet.processes():
            try:
                if marks[role] in process.cmdline():
                    yield process
            except psutil.NoSuchProcess:
                continue

    def _kill(self, role: str, process: psutil.Process) -> None:
        try:
            process.kill()
            self.killed[role] += 1
        except psutil.NoSuchProcess:
            pass  # it was done


@pytest.fixture
def resting(tmp_path) -> Iterator[EngineFleet]:
    with EngineFleet(tmp_path / "resting", {"one": 1, "two": 1}) as fleet:
        yield fleet


@pytest.fixture
def busy(tmp_path) -> Iterator[EngineFleet]:
    lanes = {f"l{number:02}": UNITS for number in range(LANES)}
    with EngineFleet(tmp_path / "busy", lanes, ttl=30.0) as fleet:
        config = fleet.root / "dos.toml"
        config.write_text(
            config.read_text().replace("[supervise]", "[supervise]\nrestart_intensity = 20")
        )
        del fleet.environment["DOS_FAULT_LOG"]
        work = {sleep: [EDIT, {"sleep": sleep}, COMMIT, DONE] for sleep in SLEEPS}
        fleet.play({unit: [work[SLEEPS[at % len(SLEEPS)]]] for at, unit in enumerate(fleet.units)})
        yield fleet


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 2400)
def test_fifty_workers_under_random_kills(busy, resting):
    at_rest(resting, "idle")
    before = started(resting)
    chaos = Chaos(busy, random.Random(50))
    chaos.start()
    wait_for(lambda: len(busy.edits()) >= LANES // 2, "most of them are at work")
    began = time.monotonic()
    chaos.run(SECONDS)
    watched = time.monotonic() - began
    assert list(overlapping(busy.events())) == []
    assert started(resting) == before, "the fleet at rest started nobody in all that time"

    down = busy.dos("down", "--now", "--timeout", "400")
    assert down.returncode == 0, down.stdout
    assert busy.started[-1].wait(timeout=PATIENCE) == 0, busy.story()
    assert broken(busy, all_landed=False) == []
    assert min(chaos.killed.values()) > 0 and len(busy.facts("unit_landed")) > LANES * watched / 300
    cores = sum(supervisor.core_seconds for supervisor in chaos.supervisors) / watched
    assert cores < MOST_OF_A_CORE, f"the supervisors took {cores:.1%} of a core"
    grown = {
        supervisor.process.pid: supervisor.growth_bytes
        for supervisor in chaos.supervisors
        if supervisor.lived_seconds > watched / 4
    }
    assert grown and max(grown.values()) < MOST_GROWTH_BYTES, grown
