"""Processes and leases: processes without a lease, and leases without a process.

A process is identified by its pid and its start time, because pids are used again. Processes of
other machines cannot be seen from here, and nothing is said about them.
"""

import os
import sys
import time
from functools import lru_cache
from shlex import quote

from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, error, note, warning
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.lanes.io.leases import leases_with_holders
from dos.lanes.leases import HolderEvidence, HolderState, HolderVerdict, judge_holder
from dos.lease import Lease
from dos.machine import process
from dos.machine.process import DosProcess, Identity, dos_arguments, dos_processes
from dos.times import format_duration
from dos.world import World

SETTLING_SECONDS = 120.0  # a process that starts or ends may be without a lease for so long
ARCHIVE = "archive"  # the lock that people take and release by name


def examine_stopped(world: World) -> list[Finding]:
    """Return the dos processes that a signal has stopped.

    The journal is not read, because such a process may hold its write lock.
    """
    return [_stopped(running) for running in running_processes(world) if running.stopped]


@lru_cache(maxsize=1)
def running_processes(world: World) -> list[DosProcess]:
    """Return the dos processes of this workspace.

    Loading the process table takes long, so on Linux the command lines are looked at first.
    """
    if sys.platform == "linux":
        with os.scandir("/proc") as entries:
            if not any(_may_be_ours(entry.name) for entry in entries):
                return []
    return dos_processes(world.workspace.state)


def _may_be_ours(pid: str) -> bool:
    """Whether the command line of a process looks like dos."""
    if not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - read for every process
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:  # it ended, or it is another user's and so not of this workspace
        return False
    return "dos" in "".join(words) and dos_arguments(words[:-1]) is not None


def examine_orphans(world: World) -> list[Finding]:
    """Return the workers and supervisors that run without a lease.

    They come from the process table and from the journal, since a command line may have changed.
    """
    journal = store.open_journal(world)
    fleet, _ = fold.current(journal, FleetState)
    with journal.backend.read() as view:
        holders = {lease.pid for lease in view.leases()}
    by_pid = {}
    for running in (*_recorded(fleet), *running_processes(world)):
        by_pid[running.identity.pid] = running
    findings = []
    for pid, running in by_pid.items():
        is_ours = running.verb in ("up", "worker") and not running.stopped
        if is_ours and pid not in holders and _has_settled(running, fleet):
            findings.append(_orphaned(running))
    return findings


def _recorded(fleet: FleetState) -> list[DosProcess]:
    """The workers of the journal that still run, whatever their command lines look like."""
    found = []
    for lane, starts in fleet.starts.items():
        # A pid says nothing about the processes of another machine.
        if not starts.pid or starts.system != process.system():
            continue
        if process.has_exited(starts.pid, starts.pid_started):
            continue
        found.append(
            DosProcess(
                identity=Identity(starts.pid, starts.pid_started),
                arguments=("worker", "--lane", lane, "--run-id", starts.run_id),
                stopped=False,
            )
        )
    return found


def _has_settled(running: DosProcess, fleet: FleetState) -> bool:
    """Whether it had time to take its lease, and time to exit after it released the lease."""
    if age_seconds(running.identity) < SETTLING_SECONDS:
        return False
    run = fleet.runs.get(running.option("--run-id"))
    if run is None or not run.stopped_ms:
        return True
    return time.time() - run.stopped_ms / 1000 >= SETTLING_SECONDS


def age_seconds(identity: Identity) -> float:
    """Return the age of a process, by the clock of its start: on Linux that counts from boot."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME) - identity.started
    return time.time() - identity.started


def _stopped(running: DosProcess) -> Finding:
    """The error for a process that a signal has stopped."""
    return error(
        "PROCESS_STOPPED",
        f"`dos {running.verb}` (process {running.identity.pid}) is stopped by a signal",
        "It may hold the write lock of the journal, and then nothing can be written.",
        f"kill -CONT {running.identity.pid}",
    )


def _orphaned(running: DosProcess) -> Finding:
    """The warning for a worker or supervisor without a lease."""
    if running.verb == "up":
        who = "supervisor"
    else:
        who = f"worker on lane {running.option('--lane')!r}"
    return warning(
        "PROCESS_ORPHANED",
        f"a {who} (process {running.identity.pid}) runs without a lease",
        "It cannot land or write anything; it only uses resources.",
        f"kill {running.identity.pid}",
    )


def examine_leases(world: World) -> list[Finding]:
    """Return the leases whose time is over, and those whose process has exited."""
    findings = []
    for lease, evidence in _leases_with_evidence(world):
        verdict = judge_holder(evidence)
        if verdict.answer is HolderState.PROCESS_GONE:
            findings.append(_holder_gone(lease, evidence))
        elif verdict.abandoned:
            findings.append(_lapsed(lease, verdict))
    return findings


def dead_leases(world: World) -> list[Lease]:
    """Return the leases of processes that have exited, of lanes and of locks.

    These are what `dos doctor --fix` revokes, because nobody can be working under them.
    """
    return [
        lease
        for lease, evidence in _leases_with_evidence(world)
        if judge_holder(evidence).answer is HolderState.PROCESS_GONE
    ]


def lease_name(lease: Lease) -> str:
    """Return the name of the lane or lock that the lease holds, for people."""
    if lease.is_lock:
        return f"lock {lease.lane!r}"
    return f"lane {lease.lane!r}"


def _leases_with_evidence(world: World) -> list[tuple[Lease, HolderEvidence]]:
    """Every lease with what is known about its holder."""
    return leases_with_holders(store.open_journal(world))


def _holder_gone(lease: Lease, evidence: HolderEvidence) -> Finding:
    """The warning for a lease that still blocks the lane although its process has exited."""
    what = (
        f"{lease_name(lease)} is held by process {lease.pid}, which has exited"
        f" (fence {lease.fence})"
    )
    why = "The lease has expired too, so the next worker that asks for it gets it."
    if evidence.left_ms > 0:
        remaining = format_duration(evidence.left_ms / 1000)
        why = f"No other worker gets it until the lease is revoked, or expires in {remaining}."
    return warning("LEASE_HOLDER_GONE", what, why, "dos doctor --fix")


def _lapsed(lease: Lease, verdict: HolderVerdict) -> Finding:
    """The note on a lease that no longer blocks anything, because its time is over."""
    what = f"the lease of {lease.holder!r} on {lease_name(lease)} has ended: {verdict.reason}"
    age = format_duration(max(0, time.time() - lease.beat_ms / 1000))
    why = f"The next worker that asks for it gets it. It was last renewed {age} ago."
    return note("LEASE_LAPSED", what, why, _release_command(lease))


def _release_command(lease: Lease) -> str:
    """A command that frees the lane or lock of an expired lease."""
    if not lease.is_lock:
        return "dos lease-lane reap"
    if lease.lane != ARCHIVE:
        return "dos up --detach"  # a supervisor's lock, which the next supervisor takes over
    if lease.holder.startswith("-"):
        return f"dos lease release -- {quote(lease.holder)}"
    return f"dos lease release {quote(lease.holder)}"
