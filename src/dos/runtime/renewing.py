"""Keeps a lease alive from a thread of its own, whatever the worker waits for; and says so when it is lost."""

import threading
import time
from collections.abc import Callable

from dos.errors import StoreFailed
from dos.journal.store import Store
from dos.records.leases import Lease


class Keeper(threading.Thread):
    def __init__(self, lease: Lease, open_store: Callable[[], Store], on_lost: Callable[[], None]) -> None:
        super().__init__(name="lease-keeper", daemon=True)
        self._lease = lease
        self._open_store = open_store
        self._on_lost = on_lost
        self._done = threading.Event()
        self._ends = time.monotonic() + lease.ttl_ms / 1000

    def stop(self) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        """Lost is lost: taken by another, or not renewed in its time, so that another may take it at any moment."""
        while not self._done.is_set():
            try:
                with self._open_store() as store:
                    if self._renew_with(store):
                        return
            except StoreFailed:
                if time.monotonic() > self._ends:
                    self._on_lost()
                    return
                self._done.wait(self._pause() / 4)

    def _renew_with(self, store: Store) -> bool:
        """True at the end of it all; a store that fails is opened anew by the caller."""
        while not self._done.wait(self._pause()):
            began = time.monotonic()
            if store.renew([self._lease.fence]).lost:
                self._on_lost()
                return True
            self._ends = began + self._lease.ttl_ms / 1000
        return True

    def _pause(self) -> float:
        return self._lease.ttl_ms / 4000
