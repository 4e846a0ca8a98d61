"""Keeps a lease alive from a thread of its own, whatever the worker waits for; and says so when it is lost."""

import threading
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

    def stop(self) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        pause = self._lease.ttl_ms / 4000
        with self._open_store() as store:
            while not self._done.wait(pause):
                try:
                    lost = store.renew([self._lease.fence]).lost
                except StoreFailed:
                    continue  # the next try comes before the lease lapses; if none gets through, the fence refuses us
                if lost:
                    self._on_lost()
                    return
