"""The processes: those that hold no lease and still run, and those that a signal has stopped."""

import os
import sys
import time
from functools import lru_cache

from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, error, warning
from dos.fleet.state.fleet import Fleet
from dos.journal import fold
from dos.machine import process as processes
from dos.machine.process import DosProcess as Running
from dos.machine.process import Identity, dos_arguments, dos_processes
from dos.world import World

SETTLING_SECONDS = 120.0  # a process that begins or ends may be without a lease for so long


def examine_stopped(world: World) -> list[Finding]:
    """Those that a signal has stopped; without the journal, which such a process may be holding shut."""
    return [_stopped(process) for process in running_processes(world) if process.stopped]


@lru_cache(maxsize=1)
def running_processes(world: World) -> list[Running]:
    """The whole table of processes takes long to load: first a look at whether there can be one of ours."""
    if sys.platform == "linux" and not any(
        _may_be_ours(entry.name) for entry in os.scandir("/proc")
    ):
        return []
    return dos_processes(world.workspace.state)


def _may_be_ours(pid: str) -> bool:
    if not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - asked of every process there is
            words = file.read().decode("utf-8", "replace").split("\0")
        return "dos" in "".join(words) and dos_arguments(words[:-1]) is not None
    except OSError:  # it ended meanwhile, or it is another user's and so none of this workspace's
        return False


def examine_orphans(world: World) -> list[Finding]:
    """Workers and supervisors that run and hold nothing."""
    journal = store.open_journal(world)
    fleet, _ = fold.current(journal, Fleet)
    found = {
        process.identity.pid: process for process in (*_recorded(fleet), *running_processes(world))
    }
    with journal.backend.read() as view:
        holders = {lease.pid for lease in view.leases()}
    return [
        _orphaned(process)
        for pid, process in found.items()
        if process.verb in ("up", "worker") and not process.stopped
        if pid not in holders and _has_settled(process, fleet)
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
        if starts.system
        == processes.system()  # a pid says nothing about another machine's processes
        and starts.pid
        and not processes.is_gone(starts.pid, starts.pid_started)
    ]


def _has_settled(process: Running, fleet: Fleet) -> bool:
    """It had time to take its lease, and time to end after it gave the lease back."""
    run = fleet.runs.get(process.option("--run-id"))
    ended_seconds = (
        time.time() - run.stopped_ms / 1000 if run and run.stopped_ms else SETTLING_SECONDS
    )
    return age_seconds(process.identity) >= SETTLING_SECONDS and ended_seconds >= SETTLING_SECONDS


def age_seconds(process: Identity) -> float:
    """By the clock that its start was read from: on Linux that counts from the start of the machine."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.time()
    return now - process.started


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
