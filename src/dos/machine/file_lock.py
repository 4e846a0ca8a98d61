"""Locks on open files, by which the processes of one machine take turns. A holder that dies has none any more."""

import time
from collections.abc import Callable

from dos.backoff import Backoff

POLLING = Backoff((0.005,))  # in seconds


def take(
    file: int, *, gives_up: Callable[[], bool], pauses: Backoff = POLLING, shared: bool = False
) -> bool:
    """Lock an open file; False: somebody else had it until `gives_up` said to wait no longer.

    Tried again and again instead of waited for: a process that was stopped while it has the lock must not hold up
    everybody for ever. Raises OSError where the file system has no locks.
    """
    import fcntl

    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    failures = 0
    while True:
        try:
            fcntl.flock(file, mode | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if gives_up():
                return False
        failures += 1
        time.sleep(pauses.delay(failures))


def after(seconds: float) -> Callable[[], bool]:
    """Gives up once so much time has passed from now on."""
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline
