"""Keeps a lease alive from a thread of its own, whatever the worker waits for; and says when it is not surely ours."""

import threading
from collections.abc import Callable

from dos.errors import Fenced, StoreFailed
from dos.journal.clock import SystemClock
from dos.journal.store import Store
from dos.records.leases import Lease

STOP_SECONDS = 10.0  # for a renewal that is under way when the keeper is stopped


def now() -> float:
    """In seconds, by the clock that leases follow: it goes on while the machine sleeps."""
    return SystemClock().lease_ms() / 1000


class Keeper(threading.Thread):
    def __init__(
        self,
        lease: Lease,
        open_store: Callable[[], Store],
        *,
        asked_at: float | None = None,
        tell: threading.Event | None = None,
        outlasts_outages: bool = False,
    ) -> None:
        """`tell` is set, too, when the lease is lost: for whoever waits for the first of several.

        With `outlasts_outages` it is lost only by the store's word, however long the store is away: for a holder that
        does nothing meanwhile, and renews it before it does anything again.
        """
        super().__init__(name="lease-keeper", daemon=True)
        self._tell = tell
        self._outlasts_outages = outlasts_outages
        self.lost = threading.Event()
        self._lease = lease
        self._open_store = open_store
        self._done = threading.Event()
        self._ends = (now() if asked_at is None else asked_at) + lease.ttl_ms / 1000

    def stop(self) -> None:
        self._done.set()
        if self.is_alive():
            self.join(STOP_SECONDS)

    def check(self, store: Store, *, doubtful: bool) -> None:
        """Raise unless the lease is surely ours; where its time is over or that is doubtful, by a renewal."""
        if self.lost.is_set():
            raise Fenced(f"the lease with fence {self._lease.fence} was taken over, or not renewed in its time")
        if doubtful or now() >= self._ends:
            self._renew(store)

    def is_lost(self) -> bool:
        """Also when a renewal is stuck on its way, and so cannot say it."""
        return self.lost.is_set() or self._is_over(self._ends + self._pause())

    def run(self) -> None:
        """Lost is lost: taken by another, or not renewed in its time, so that another may take it at any moment."""
        while not self._done.is_set():
            try:
                with self._open_store() as store:
                    while not self._done.wait(self._pause()):
                        self._renew(store)
            except Fenced:
                return
            except StoreFailed:
                if self._is_over(self._ends):
                    self._lose()
                    return
                self._done.wait(self._pause() / 4)  # then the store is opened anew

    def _renew(self, store: Store) -> None:
        began = now()
        if store.renew([self._lease.fence]).lost:
            self._lose()
            raise Fenced(f"the lease with fence {self._lease.fence} was taken over")
        self._ends = max(self._ends, began + self._lease.ttl_ms / 1000)

    def _is_over(self, ends: float) -> bool:
        return not self._outlasts_outages and now() >= ends

    def _lose(self) -> None:
        self.lost.set()
        if self._tell:
            self._tell.set()

    def _pause(self) -> float:
        return self._lease.ttl_ms / 4000
