"""One kill each, in a fleet of its own: what is killed, where, and what was broken by it."""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine_fleet import COMMIT, CRASH, DONE, EDIT, KILL_THE_WORKER, WORK, EngineFleet
from patience import PATIENCE
from promises import broken

KILLED = -9
AT_ONCE = 3  # fleets beside one another
Case = Callable[[Path], list[str]]

# What an agent has done when it, or its worker, dies.
HALFWAY = {
    "before its first line": [],
    "with edits that nobody committed": [EDIT],
    "after its commit": [EDIT, COMMIT],
    "after it said that it was done": [EDIT, COMMIT, DONE],
}
DIES_ONCE = {"*": [[EDIT, KILL_THE_WORKER], WORK]}


def problems_of(home: Path, cases: Mapping[str, Case]) -> dict[str, list[str]]:
    """Of each case that broke something, what it broke."""

    def run(name: str, number: int) -> list[str]:
        place = home / str(number)
        found = cases[name](place)
        if not found:
            shutil.rmtree(place)
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(run, cases, range(len(cases))))
    return {name: each for name, each in zip(cases, found, strict=True) if each}


def killed_at(point: str, *, units: int = 1, script: Mapping[str, Any] | None = None, deaths: int = 1) -> Case:
    """At a fault point; `deaths` counts all that die, also by the script."""

    def case(home: Path) -> list[str]:
        with EngineFleet(home, {"one": units}) as fleet:
            if script:
                fleet.play(script)
            return [*_went_on(fleet, point), *broken(fleet), *_done_too_often(fleet, point, deaths)]

    return case


def scripted(first: list[dict[str, Any]], *, deaths: int = 1) -> Case:
    """What an agent's first try does; the second one works."""

    def case(home: Path) -> list[str]:
        with EngineFleet(home, {"one": 2}) as fleet:
            fleet.play({"WORK/ONE1": [first, WORK], "*": [WORK]})
            return [*_went_on(fleet, ""), *broken(fleet), *_done_too_often(fleet, "", deaths)]

    return case


def agent_dies(done: list[dict[str, Any]]) -> Case:
    return scripted([*done, CRASH])


def worker_dies_beside_its_agent(done: list[dict[str, Any]]) -> Case:
    return scripted([*done, KILL_THE_WORKER, {"sleep": 30}])


def _went_on(fleet: EngineFleet, point: str) -> Iterator[str]:
    try:
        code = fleet.until_idle("--target", "1", seconds=PATIENCE, point=point)
        if point and point.removeprefix("all:") not in fleet.passed():
            yield f"nobody came to {point}"
        if point.startswith(("all:", "supervisor:")):
            if code != KILLED:
                yield f"the supervisor ended with {code}, and was to be killed"
            code = fleet.until_idle("--target", "1", seconds=PATIENCE)
        if code != 0:
            yield f"the fleet ended with {code}: {fleet.story()}"
    except subprocess.TimeoutExpired:
        yield f"no end after {PATIENCE:g} s: {fleet.story()}"
        fleet.kill_everything()


def _done_too_often(fleet: EngineFleet, point: str, deaths: int) -> Iterator[str]:
    recorded = fleet.events()
    for kind in ("unit_claimed", "agent_started"):
        for unit in fleet.units:
            times = sum(event.kind == kind and event.body["unit"] == unit for event in recorded)
            if times > 1 + deaths:
                yield f"{unit}: {kind} {times} times"
    if len(fleet.agent_starts()) > len(fleet.units) + deaths:
        yield f"agents were started for {fleet.agent_starts()}"
    landing: set[str] = set()
    for event in recorded:
        match event.kind:
            case "landing_intended":
                landing.add(event.body["unit"])
            case "landing_refused":
                landing.discard(event.body["unit"])
            case "agent_started" if event.body["unit"] in landing:
                yield f"{event.body['unit']} was done again although its landing had begun"
    begun = sum(each.startswith("supervisor:SpawnWorker:before:") for each in fleet.passed())
    most = deaths if point.startswith("supervisor:") else 1 + deaths  # workers outlive their supervisor
    if begun > most:
        yield f"{begun} workers were started; {most} would have done"


def boundaries(passed: Iterable[str], role: str, *, repeated: int = 3) -> list[str]:
    """Of one role, one point for each boundary between two effects; of effects that come with every tick only some."""
    mine = [point for point in passed if point.startswith(f"{role}:")]
    after = [point for point in mine if ":after:" in point]
    often = ("Pause", "ObserveFleet")
    return mine[:1] + [
        point for point in after if point.split(":")[1] not in often or int(point.rpartition(":")[2]) <= repeated
    ]
