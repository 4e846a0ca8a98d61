"""The processes: those that hold no lease and still run, and those that a signal has stopped."""

import time

from dos.evidence.health import leases
from dos.evidence.health.finding import Finding, error, warning
from dos.journal import fold
from dos.journal.states.fleet import Fleet
from dos.sources import own_processes, processes
from dos.sources.own_processes import Running
from dos.sources.processes import Identity
from dos.sources.world import World

SETTLING_SECONDS = 120.0  # a process that begins or ends may be without a lease for so long


def examine(world: World) -> list[Finding]:
    """Those that a signal has stopped; without the journal, which such a process may be holding shut."""
    return [_stopped(process) for process in own_processes.running(world.workspace.state) if process.stopped]


def orphans(world: World) -> list[Finding]:
    """Workers and supervisors that run and hold nothing."""
    fleet, _ = fold.current(world.journal, Fleet)
    running = {process.identity.pid: process for process in _recorded(fleet)}
    running |= {process.identity.pid: process for process in own_processes.running(world.workspace.state)}
    holders = {lease.pid for lease in leases.every(world)}
    now = time.time()
    return [
        _orphaned(process)
        for pid, process in running.items()
        if process.verb in ("up", "worker") and not process.stopped
        if pid not in holders and _settled(process, fleet, now)
    ]


def _recorded(fleet: Fleet) -> list[Running]:
    """The workers that the journal knows and that still run, whatever their command lines look like."""
    return [
        Running(
            identity=Identity(starts.pid, starts.pid_started),
            words=("worker", "--lane", lane, "--run-id", starts.run_id),
            stopped=False,
        )
        for lane, starts in fleet.starts.items()
        if starts.pid and not processes.is_gone(starts.pid, starts.pid_started)
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
