"""Does the process that holds a lease still run, by the system's own word?"""

from dos.records.leases import Request
from dos.sources import processes


def running(lease: Request) -> bool | None:
    """Only its own system can say it, and only of a process whose start is known; None for everything else.

    The name of a host proves nothing, as two machines may share it: a lease that names no system runs out by time.
    """
    if lease.system != processes.system() or lease.pid is None or lease.pid_started is None:
        return None
    return not processes.is_gone(lease.pid, lease.pid_started)


def gone(lease: Request) -> bool:
    return running(lease) is False


def is_local(lease: Request) -> bool:
    """Whether its logs are on this machine, as far as the lease tells: one of an older version has a name alone."""
    return lease.system == processes.system() if lease.system else lease.host == processes.host()
