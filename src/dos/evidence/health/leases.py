"""The leases: which have run out, and whose holders are dead by the system's word."""

from dos.evidence import holders
from dos.evidence.health.finding import Finding, note, warning
from dos.journal.lines import second_stamp
from dos.records.leases import Lease
from dos.sources.world import World


def examine(world: World) -> list[Finding]:
    fresh = {lease.fence for lease in every(world, lapsed=False)}
    found = []
    for lease in every(world):
        if holders.gone(lease):
            found.append(_abandoned(lease))
        elif lease.fence not in fresh:
            found.append(_lapsed(lease))
    return found


def every(world: World, *, lapsed: bool = True) -> list[Lease]:
    """Lanes and named locks alike."""
    journal = world.journal
    return [*journal.leases(lapsed=lapsed), *journal.leases(locks=True, lapsed=lapsed)]


def abandoned(world: World) -> list[Lease]:
    return [lease for lease in every(world) if holders.gone(lease)]


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
    return note(
        "LEASE_LAPSED",
        f"the lease of {lease.holder!r} on {named(lease)} has run out; it last beat at {second_stamp(lease.beat_ms)}",
        "Whoever asks next gets it.",
        "dos up" if lease.is_lock else "dos lease-lane reap",
    )
