"""The leases: which have run out, and whose holders are dead by the system's word."""

from datetime import UTC, datetime

from dos.evidence.health.finding import Finding, note, warning
from dos.records.leases import Lease
from dos.sources import processes
from dos.sources.world import World


def examine(world: World) -> list[Finding]:
    fresh = {lease.fence for lease in every(world, lapsed=False)}
    found = []
    for lease in every(world):
        if holder_gone(lease):
            found.append(_abandoned(lease))
        elif lease.fence not in fresh:
            found.append(_lapsed(lease))
    return found


def every(world: World, *, lapsed: bool = True) -> list[Lease]:
    """Lanes and named locks alike."""
    journal = world.journal
    return [*journal.leases(lapsed=lapsed), *journal.leases(locks=True, lapsed=lapsed)]


def abandoned(world: World) -> list[Lease]:
    return [lease for lease in every(world) if holder_gone(lease)]


def holder_gone(lease: Lease) -> bool:
    """Only this machine can say it, and only of a process whose start is known."""
    if lease.host != processes.host() or lease.pid is None or lease.pid_started is None:
        return False
    return processes.is_gone(lease.pid, lease.pid_started)


def named(lease: Lease) -> str:
    return f"{'lock' if lease.is_lock else 'lane'} {lease.lane!r}"


def _abandoned(lease: Lease) -> Finding:
    return warning(
        "LEASE_HOLDER_GONE",
        f"{named(lease)} is held by process {lease.pid}, which is gone (fence {lease.fence})",
        "Until its lease runs out, nobody else gets it.",
        "dos doctor --fix",
    )


def _lapsed(lease: Lease) -> Finding:
    beat = datetime.fromtimestamp(lease.beat_ms / 1000, UTC)
    return note(
        "LEASE_LAPSED",
        f"the lease of {lease.holder!r} on {named(lease)} has run out; it was last renewed at {beat:%Y-%m-%d %H:%M:%SZ}",
        "Whoever asks next gets it.",
        "dos lease-lane live",
    )
