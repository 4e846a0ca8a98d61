"""The leases that this process holds, each kept alive by a thread of its own."""

import time
from collections.abc import Callable

from dos.journal.store import Store
from dos.records.leases import Lease
from dos.runtime.renewing import Keeper


class Holding:
    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._keepers: dict[int, Keeper] = {}
        self.lanes: dict[int, Lease] = {}  # by fence; locks are none

    def keep(self, lease: Lease, *, asked_at: float) -> None:
        keeper = Keeper(lease, self._open_store, asked_at=asked_at)
        keeper.start()
        self._keepers[lease.fence] = keeper
        if not lease.is_lock:
            self.lanes[lease.fence] = lease

    def let_go(self, fence: int) -> None:
        self.lanes.pop(fence, None)
        if keeper := self._keepers.pop(fence, None):
            keeper.stop()

    def prove(self, store: Store, *, doubtful: bool) -> None:
        """Raise unless all of them are surely ours."""
        for keeper in self._keepers.values():
            keeper.check(store, doubtful=doubtful)

    def is_lost(self) -> bool:
        return any(keeper.is_lost() for keeper in self._keepers.values())

    def pause(self, seconds: float) -> None:
        """Shorter when a lease is lost meanwhile."""
        first = next(iter(self._keepers.values()), None)
        if first:
            first.lost.wait(seconds)
        else:
            time.sleep(seconds)

    def close(self) -> None:
        for fence in list(self._keepers):
            self.let_go(fence)
