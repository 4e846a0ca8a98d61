"""Is the process that holds a lease gone, by the system's own word?"""

from dos.records.leases import Lease
from dos.sources import processes


def gone(lease: Lease) -> bool:
    """Only its own machine can say it, and only of a process whose start is known; everything else is not gone."""
    if lease.host != processes.host() or lease.pid is None or lease.pid_started is None:
        return False
    return processes.is_gone(lease.pid, lease.pid_started)
