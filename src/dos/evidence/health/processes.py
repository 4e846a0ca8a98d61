"""The processes: those that hold no lease and still run, and those that a signal has stopped."""

import time

from dos.evidence.health import leases
from dos.evidence.health.finding import Finding, error, warning
from dos.journal import fold
from dos.journal.states.fleet import Fleet
from dos.sources import own_processes
from dos.sources.own_processes import Running
from dos.sources.world import World

SETTLING_SECONDS = 120.0  # a process that begins or ends may be without a lease for so long


def examine(world: World) -> list[Finding]:
    running = own_processes.running(world.workspace.state)
    if not running:
        return []
    found = [_stopped(process) for process in running if process.stopped]
    candidates = [process for process in running if process.verb in ("up", "worker") and not process.stopped]
    if not candidates:
        return found
    holders = {lease.pid for lease in leases.every(world)}
    fleet, _ = fold.current(world.journal, Fleet)
    now = time.time()
    return found + [
        _orphaned(process)
        for process in candidates
        if process.identity.pid not in holders and _settled(process, fleet, now)
    ]


def _settled(process: Running, fleet: Fleet, now: float) -> bool:
    """It had time to take its lease, and time to end after it gave the lease back."""
    run = fleet.runs.get(process.option("--run-id"))
    ended_seconds = now - run.stopped_ms / 1000 if run and run.stopped_ms else SETTLING_SECONDS
    return now - process.identity.started >= SETTLING_SECONDS and ended_seconds >= SETTLING_SECONDS


def _stopped(process: Running) -> Finding:
    return error(
        "PROCESS_STOPPED",
        f"`dos {process.verb}` ({process.identity.pid}) is stopped by a signal",
        "It may hold the write lock of the journal, and then nobody can write.",
        f"kill -CONT {process.identity.pid}",
    )


def _orphaned(process: Running) -> Finding:
    who = "supervisor" if process.verb == "up" else f"worker on lane {process.option('--lane')!r}"
    return warning(
        "PROCESS_ORPHANED",
        f"a {who} ({process.identity.pid}) runs and holds no lease",
        "It can neither land nor write; it only takes up room.",
        f"kill {process.identity.pid}",
    )
