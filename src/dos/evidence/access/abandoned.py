"""What can be known of the holders of leases: the store's clock, and the processes of this machine."""

from dos.journal.store import Store
from dos.records.leases import Lease
from dos.sources import processes
from dos.verdicts.access.abandoned import Evidence


def gather(journal: Store) -> list[tuple[Lease, Evidence]]:
    """The lanes' leases that nobody has ended, each with what is known of its holder."""
    with journal.backend.read() as view:
        now_ms, boot = view.lease_ms(), view.boot()
        found = [lease for lease in view.leases() if not lease.is_lock]
    return [(lease, _seen(lease, now_ms, boot)) for lease in found]


def _seen(lease: Lease, now_ms: int, boot: str) -> Evidence:
    # Another host's processes cannot be seen from here, and a pid without its start time is nobody in particular.
    ours = lease.host == processes.host() and lease.pid is not None and lease.pid_started is not None
    return Evidence(
        left_ms=lease.expires_ms - now_ms,
        restarted=lease.boot != boot,
        process_gone=ours and processes.is_gone(lease.pid or 0, lease.pid_started or 0.0),
        pid=lease.pid,
    )
