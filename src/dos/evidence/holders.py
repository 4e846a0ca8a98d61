"""Does the process that holds a lease still run, by the system's own word?"""

from dos.records.leases import Request
from dos.sources import processes


def running(lease: Request) -> bool | None:
    """Only its own machine can say it, and only of a process whose start is known; None for everything else."""
    if lease.host != processes.host() or lease.pid is None or lease.pid_started is None:
        return None
    return not processes.is_gone(lease.pid, lease.pid_started)


def gone(lease: Request) -> bool:
    return running(lease) is False
