"""Waiting for the turn to land: until those who queued before have landed, or died."""

import time
from collections.abc import Callable

from dos.fleet.effects import AwaitTurn
from dos.journal import fold
from dos.journal.store import Store
from dos.landing.queue import LandingQueue
from dos.lease import Lease
from dos.machine import process

QUEUE_SECONDS = 0.05  # for each landing ahead but the first, before whoever waits looks again
LONGEST_QUEUE_SECONDS = 1.0
LOOK_SECONDS = 1.0  # nothing is written when a process dies: so that is looked at


def wait(
    effect: AwaitTurn,
    watch: fold.Watch,
    store: Store,
    *,
    check: Callable[[Lease, bool], None],
    pause: Callable[[float], object],
) -> int:
    """How many are still ahead after `effect.seconds`; 0 as soon as nobody is.

    `check` raises when the run is halted or, where True says that it is doubtful, its lease is lost. Every event wakes
    whoever waits; who is far behind waits a little longer, so that a long queue does not keep the store busy.
    """
    deadline = time.monotonic() + effect.seconds
    while True:
        live = {lease.fence: lease for lease in watch.look()}
        queue = watch.state(LandingQueue)
        check(effect.lease, effect.run_id not in queue.tickets)  # a ticket ends with its lease
        tickets = queue.ahead(effect.run_id)
        ahead = sum(each.fence in live and not process.gone(live[each.fence]) for each in tickets)
        left = deadline - time.monotonic()
        if not ahead or left <= 0:
            return ahead
        pause(min(QUEUE_SECONDS * (ahead - 1), LONGEST_QUEUE_SECONDS, left))
        store.wait(watch.pos, min(left, LOOK_SECONDS))
