"""What can be known of the holders of leases: the store's clock, and the processes of this machine."""

from dos.journal.store import Store
from dos.lanes.abandoned import Evidence
from dos.lease import Lease
from dos.machine import process


def gather(journal: Store) -> list[tuple[Lease, Evidence]]:
    """The leases that nobody has ended, of lanes and of named locks, each with what is known of its holder."""
    with journal.backend.read() as view:
        now_ms, boot = view.lease_ms(), view.boot()
        found = view.leases()
    return [(lease, _seen(lease, now_ms, boot)) for lease in found]


def _seen(lease: Lease, now_ms: int, boot: str) -> Evidence:
    return Evidence(
        left_ms=lease.expires_ms - now_ms,
        restarted=lease.boot != boot,
        process_gone=process.gone(lease),
        pid=lease.pid,
    )
