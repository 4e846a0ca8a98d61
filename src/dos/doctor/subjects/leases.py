"""The leases: which have run out, and whose holders are dead by the system's word."""

from shlex import quote

from dos.doctor.subjects import store
from dos.doctor.subjects.finding import Finding, note, warning
from dos.lanes.abandoned import Answer, Verdict, judge
from dos.lanes.io.leases import leases_with_holders
from dos.lease import Lease
from dos.times import utc_stamp
from dos.world import World

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
