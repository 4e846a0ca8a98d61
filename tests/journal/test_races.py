"""Many processes race for leases while some are killed; the journal is then asked whether anything
went wrong."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from patience import PATIENCE
from racer import TTL_MS

from dos import regions
from dos.journal.backends.open import open_store
from dos.journal.check import check
from dos.journal.events import lanes
from dos.journal.events.reader import decode
from dos.lanes import admission
from dos.lease import Lease, Request
from dos.regions import region

MOST_ROUNDS = 6
RACER = Path(__file__).with_name("racer.py")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request):
    if request.param == "sqlite":
        return ""
    return request.getfixturevalue("postgres").createdb(f"race_{random.getrandbits(32):x}")


def race(
    url: str, directory: Path, *, contenders: int, seconds: float, kills_per_second: float
) -> dict[str, int]:
    """Let them race and kill some at random; what the survivors counted."""
    dice = random.Random(7)
    deadline = time.monotonic() + seconds
    complaints = directory / "complaints"

    def start(seed: int) -> subprocess.Popen[str]:
        left = max(0.2, deadline - time.monotonic())
        with complaints.open("a") as errors:
            words = [sys.executable, str(RACER), url, str(directory), str(seed), f"{left:.2f}"]
            return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)

    racers = [start(seed) for seed in range(contenders)]
    total = {"killed": 0}
    while time.monotonic() < deadline:
        time.sleep(1 / kills_per_second)
        folder = dice.randrange(contenders)
        victim = racers[folder]
        if victim.poll() is None and time.monotonic() < deadline:
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            total["killed"] += 1
            racers[folder] = start(1000 + total["killed"])
    for racer in racers:
        counted, _ = racer.communicate(timeout=PATIENCE)
        for word in counted.split():
            name, _, count = word.partition("=")
            total[name] = total.get(name, 0) + int(count)
    assert complaints.read_text() == "", "no contender may see an error but a typed refusal"
    return total


def assert_history_is_sound(url: str, directory: Path) -> None:
    """From the events alone: fences only grow, and no lease was granted over one that had not
    ended."""
    with open_store(url, state_directory=directory, workspace_id="race") as store:
        live: dict[int, Request] = {}
        newest = 0
        for event in store.events():
            match decode(event):
                case lanes.LeaseGranted(asked=asked):
                    assert event.pos > newest, "a fence repeated or went back"
                    newest = event.pos
                    for fence, other in live.items():
                        clash = regions.conflict(asked.region, asked.mode, other.region, other.mode)
                        assert not clash, f"{event.pos} overlaps {fence}"
                        assert not (asked.exclusive or other.exclusive), (
                            f"{event.pos} beside {fence}, one runs alone"
                        )
                    live[event.pos] = asked
                case lanes.LeaseReleased(lease=fence) | lanes.LeaseExpired(lease=fence):
                    del live[fence]
                case None if event.fence is not None:
                    assert event.fence in live, f"event {event.pos} was written under a dead fence"
        assert check(store).problems == []


def assert_everything_is_free_after_a_lease_time(url: str, directory: Path) -> None:
    time.sleep(TTL_MS / 1000 + 0.1)
    with open_store(url, state_directory=directory, workspace_id="race") as store:
        request = Request(
            lane="last",
            holder="test",
            host="race",
            ttl_ms=TTL_MS,
            region=region(["**/*"]),
            exclusive=True,
        )
        assert isinstance(store.acquire(request, admission.judge), Lease), (
            "a dead holder kept its lane"
        )


def race_until(url: str, directory: Path, floors: dict[str, int], **how: float) -> None:
    """Race again on the same journal until enough has happened: how much a round brings depends on
    the machine."""
    total: Counter[str] = Counter()
    for _ in range(MOST_ROUNDS):
        total.update(race(url, directory, **how))
        if all(total[name] > floor for name, floor in floors.items()):
            return
    raise AssertionError(f"after {MOST_ROUNDS} rounds only {dict(total)} of {floors}")


@pytest.mark.soak
def test_leases_hold_while_processes_race_and_die(url, tmp_path):
    floors = {"killed": 3, "granted": 50, "refused": 50, "written": 20}
    race_until(url, tmp_path, floors, contenders=8, seconds=4, kills_per_second=3)
    assert_history_is_sound(url, tmp_path)
    assert_everything_is_free_after_a_lease_time(url, tmp_path)


@pytest.mark.soak
def test_leases_hold_among_thirty_two_processes(url, tmp_path):
    floors = {"killed": 10, "granted": 100, "refused": 100, "lost": 0}
    race_until(url, tmp_path, floors, contenders=32, seconds=10, kills_per_second=5)
    assert_history_is_sound(url, tmp_path)
    assert_everything_is_free_after_a_lease_time(url, tmp_path)
