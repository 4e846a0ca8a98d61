"""One kill each, in a fleet of its own: what is killed, where, and what was broken by it."""

import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine_fleet import COMMIT, CRASH, DONE, EDIT, KILL_THE_WORKER, NO_WALLS, WORK, EngineFleet
from patience import PATIENCE
from promises import broken

KILLED = -9
AT_ONCE = 3  # fleets beside one another
TRIES = 3  # until one comes to a boundary
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
        folder = home / str(number)
        found = cases[name](folder)
        if not found:
            shutil.rmtree(folder)
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(run, cases, range(len(cases))))
    return {name: each for name, each in zip(cases, found, strict=True) if each}


def killed_at(
    point: str, *, units: int = 1, script: Mapping[str, Any] | None = None, deaths: int = 1
) -> Case:
    """At a fault point; `deaths` counts all that die, also by the script.

    Whether a fleet comes to a boundary may depend on who was quicker: one that did not is told,
    and another is tried.
    """

    def case(home: Path) -> list[str]:
        for number in range(TRIES):
            walls = NO_WALLS if script is DIES_ONCE else ""
            with EngineFleet(home / str(number), {"one": units}, walls=walls) as fleet:
                if script:
                    fleet.play(script)
                found = [
                    *_went_on(fleet, point),
                    *broken(fleet),
                    *_done_too_often(fleet, point, deaths),
                ]
                if found or _came_to(fleet, point):
                    return found
                warnings.warn(
                    f"fleet {number + 1} ended well without coming to {point}", stacklevel=2
                )
        return [f"{TRIES} fleets ended well, and nobody came to {point}: {fleet.story()}"]

    return case


def scripted(first: list[dict[str, Any]], *, deaths: int = 1, walls: str = "") -> Case:
    """What an agent's first try does; the second one works."""

    def case(home: Path) -> list[str]:
        with EngineFleet(home, {"one": 2}, walls=walls) as fleet:
            fleet.play({"WORK/ONE1": [first, WORK], "*": [WORK]})
            return [*_went_on(fleet, ""), *broken(fleet), *_done_too_often(fleet, "", deaths)]

    return case


def agent_dies(done: list[dict[str, Any]]) -> Case:
    return scripted([*done, CRASH])


def worker_dies_beside_its_agent(done: list[dict[str, Any]]) -> Case:
    return scripted([*done, KILL_THE_WORKER, {"sleep": 30}], walls=NO_WALLS)


def _went_on(fleet: EngineFleet, point: str) -> Iterator[str]:
    try:
        code = fleet.until_idle("--target", "1", point=point)
        if point.startswith(("all:", "supervisor:")) and _came_to(fleet, point):
            if code != KILLED:
                yield f"the supervisor ended with {code}, and was to be killed"
            code = fleet.until_idle("--target", "1")
        if code != 0:
            yield f"the fleet ended with {code}: {fleet.story()}"
    except subprocess.TimeoutExpired:
        yield f"no end after {PATIENCE:g} s: {fleet.story()}"
        fleet.kill_everything()


def _came_to(fleet: EngineFleet, point: str) -> bool:
    return not point or point.removeprefix("all:") in fleet.passed()


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
    most = (
        deaths if point.startswith("supervisor:") else 1 + deaths
    )  # workers outlive their supervisor
    if begun > most:
        yield f"{begun} workers were started; {most} would have done"


def boundaries(fleet: EngineFleet, role: str) -> list[str]:
    """Of one role, one point for each boundary between two effects that every such fleet comes to.

    How often it looks and pauses depends on the clock; and a worker that ends just while it is
    looked at is taken for dead, which the journal refuses: of revocations those count that the
    journal has.
    """
    sure = {"Pause": 3, "ObserveFleet": 3, "RevokeLease": len(fleet.facts("lease_revoked"))}
    mine = [point for point in fleet.passed() if point.startswith(f"{role}:")]
    after = [point.split(":") for point in mine if ":after:" in point]
    return mine[:1] + [
        ":".join(each) for each in after if int(each[3]) <= sure.get(each[1], int(each[3]))
    ]
