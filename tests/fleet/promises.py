"""What must be true of a fleet whatever was killed, as a list of all that is not."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from engine_fleet import EngineFleet
from msgspec import convert

from dos import workspace
from dos.journal.check import check
from dos.journal.events.envelope import Event
from dos.regions import Region, overlaps
from dos.world import World

SALVAGED = "refs/dos/salvage"
ENDS_A_LEASE = ("lease_released", "lease_expired", "lease_revoked")


def broken(fleet: EngineFleet, *, all_landed: bool = True) -> list[str]:
    """Of a fleet that has come to rest."""
    recorded = fleet.events()
    found = [
        *_landed(fleet, recorded, all_landed=all_landed),
        *twice(recorded),
        *overlapping(recorded),
        *_lost(fleet),
        *_running(fleet),
        *_worktrees(fleet),
    ]
    with World(fleet.root) as world:
        return [*found, *(f"journal check: {problem}" for problem in check(world.journal).problems)]


def _running(fleet: EngineFleet) -> Iterator[str]:
    for process in fleet.processes():
        try:
            yield f"left running: {' '.join(process.cmdline())}"
        except psutil.NoSuchProcess:
            continue  # it was about to end


def _landed(fleet: EngineFleet, recorded: list[Event], *, all_landed: bool) -> Iterator[str]:
    on_main = fleet.git(
        "log", "--format=%H %(trailers:key=Unit,valueonly,separator=%x20)", "main"
    ).splitlines()
    units = Counter(unit for line in on_main for unit in line.split()[1:])
    yield from (f"{unit} is on main {times} times" for unit, times in units.items() if times > 1)
    yield from (f"{unit} did not land" for unit in fleet.units if all_landed and unit not in units)
    commits = {line.split()[0] for line in on_main}
    for kind in ("unit_landed", "receipt_issued"):
        rows = [
            (event.body["unit"], event.body["commit"]) for event in recorded if event.kind == kind
        ]
        yield from (f"{unit}: {kind} {n} times" for (unit, _), n in Counter(rows).items() if n > 1)
        yield from (
            f"{unit}: {kind} {commit}, which is not on main"
            for unit, commit in rows
            if commit not in commits
        )
        yield from (f"{unit} is on main without {kind}" for unit in units if unit not in dict(rows))


def twice(recorded: list[Event]) -> Iterator[str]:
    """What is done under one key is done once."""
    iterations = Counter(
        (event.body["run_id"], event.body["iteration"], event.body.get("attempt", 1))
        for event in recorded
        if event.kind == "iteration_committed"
    )
    yield from (f"committed {times} times: {key}" for key, times in iterations.items() if times > 1)
    spawned = Counter(event.body["run_id"] for event in recorded if event.kind == "worker_spawned")
    yield from (f"started {times} times: {run}" for run, times in spawned.items() if times > 1)
    stopped: set[str] = set()
    for event in recorded:
        run_id = event.body.get("run_id", "")
        if event.kind == "run_stopped":
            stopped.add(run_id)
        elif run_id in stopped and event.stream == f"run/{run_id}":
            yield f"{event.kind} after its run had stopped: {run_id}"


def overlapping(recorded: list[Event]) -> Iterator[str]:
    """Leases that held one region at one time; and fences that did not grow."""
    live: dict[int, Any] = {}
    newest = 0
    for event in recorded:
        if event.kind == "lease_granted":
            asked = event.body["asked"]
            if asked.get("is_lock"):
                continue
            if event.pos <= newest:
                yield f"the fence {event.pos} is older than {newest}"
            newest = event.pos
            for other in live.values():
                if other["lane"] == asked["lane"] or _share(other, asked):
                    held = other["lane"]
                    yield f"{asked['lane']} was granted at {event.pos} while {held} was held"
            live[event.pos] = asked
        elif event.kind in ENDS_A_LEASE:
            live.pop(event.body["lease"], None)


def _share(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return overlaps(convert(one["region"], Region), convert(other["region"], Region))


def _lost(fleet: EngineFleet) -> Iterator[str]:
    kept = fleet.git("log", "-p", "--format=", "main", f"--glob={SALVAGED}/*")
    places = workspace.find(fleet.root)
    with_state = Path(fleet.environment["XDG_STATE_HOME"])
    for folder in (with_state, places.state / "salvage"):
        kept += "".join(path.read_text() for path in folder.rglob("*.txt"))
    yield from (
        f"an edit was lost: {line}" for line in fleet.edits() if line.split()[0] not in kept
    )


def _worktrees(fleet: EngineFleet) -> Iterator[str]:
    """At most one for each lane, each a repository of its own; git lists none of them."""
    listed = fleet.git("worktree", "list", "--porcelain").splitlines()
    known = {line.partition(" ")[2] for line in listed if line.startswith("worktree ")}
    yield from (f"git lists a worktree: {path}" for path in known - {str(fleet.root)})
    for path in Path(fleet.environment["XDG_STATE_HOME"]).glob("dos/*/worktrees/*"):
        if not (path / ".git").is_dir():
            yield f"it is no repository: {path}"
        if path.name not in fleet.lanes:
            yield f"no lane has the tree {path}"
