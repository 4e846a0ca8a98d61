"""The processes: those that hold no lease and still run, and those that a signal has stopped."""

import os
import sys
import time
from functools import lru_cache
from shlex import quote

from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.lanes.abandoned import Answer, Verdict, judge
from dos.lanes.io.leases import leases_with_holders
from dos.lease import Lease
from dos.machine import process
from dos.machine.process import DosProcess, Identity, dos_arguments, dos_processes
from dos.times import utc_stamp
from dos.world import World

SETTLING_SECONDS = 120.0  # a process that begins or ends may be without a lease for so long


def examine_stopped(world: World) -> list[Finding]:
    """Those that a signal has stopped; without the journal, which such a process may be holding shut."""
    return [_stopped(process) for process in running_processes(world) if process.stopped]


@lru_cache(maxsize=1)
def running_processes(world: World) -> list[DosProcess]:
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
    fleet, _ = fold.current(journal, FleetState)
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


def _recorded(fleet: FleetState) -> list[DosProcess]:
    """The workers that the journal knows and that still run, whatever their command lines look like."""
    return [
        DosProcess(
            identity=Identity(starts.pid, starts.pid_started),
            arguments=("worker", "--lane", lane, "--run-id", starts.run_id),
            stopped=False,
        )
        for lane, starts in fleet.starts.items()
        if starts.system == process.system()  # a pid says nothing about another machine's processes
        and starts.pid
        and not process.has_exited(starts.pid, starts.pid_started)
    ]


def _has_settled(process: DosProcess, fleet: FleetState) -> bool:
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


def _stopped(process: DosProcess) -> Finding:
    return error(
        "PROCESS_STOPPED",
        f"`dos {process.verb}` ({process.identity.pid}) is stopped by a signal",
        "It may hold the write lock of the journal, and then nobody can write.",
        f"kill -CONT {process.identity.pid}",
    )


def _orphaned(process: DosProcess) -> Finding:
    who = "supervisor" if process.verb == "up" else f"worker on lane {process.option('--lane')!r}"
    return warning(
        "PROCESS_ORPHANED",
        f"a {who} ({process.identity.pid}) runs and holds no lease",
        "It can neither land nor write; it only takes up room.",
        f"kill {process.identity.pid}",
    )


ARCHIVE = "archive"  # the lock that people take and give back by name


def examine_leases(world: World) -> list[Finding]:
    return [
        _lease_finding(lease, verdict) for lease, verdict in _judged(world) if verdict.abandoned
    ]


def dead_leases(world: World) -> list[Lease]:
    """Those of dead processes, of lanes and locks alike."""
    return [lease for lease, verdict in _judged(world) if verdict.answer is Answer.PROCESS_GONE]


def lease_name(lease: Lease) -> str:
    return f"{'lock' if lease.is_lock else 'lane'} {lease.lane!r}"


def _judged(world: World) -> list[tuple[Lease, Verdict]]:
    return [(lease, judge(seen)) for lease, seen in leases_with_holders(store.open_journal(world))]


def _lease_finding(lease: Lease, verdict: Verdict) -> Finding:
    if verdict.answer is Answer.PROCESS_GONE:
        what = f"{lease_name(lease)} is held by process {lease.pid}, which is gone (fence {lease.fence})"
        return warning(
            "LEASE_HOLDER_GONE",
            what,
            "Until its lease runs out, nobody else gets it.",
            "dos doctor --fix",
        )
    what = f"the lease of {lease.holder!r} on {lease_name(lease)} is over: {verdict.reason}"
    last = f"Whoever asks next gets it. It last beat at {utc_stamp(lease.beat_ms)}."
    return note("LEASE_LAPSED", what, last, _release_command(lease))


def _release_command(lease: Lease) -> str:
    if not lease.is_lock:
        return "dos lease-lane reap"
    # Any other lock is a supervisor's, and the next one takes it over.
    holder = f"-- {quote(lease.holder)}" if lease.holder.startswith("-") else quote(lease.holder)
    return f"dos lease release {holder}" if lease.lane == ARCHIVE else "dos up --detach"
