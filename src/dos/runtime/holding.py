"""The leases that this process holds, each kept alive by a thread of its own."""

import threading
from collections.abc import Callable

from dos.journal.store import Store
from dos.records.leases import Lease
from dos.runtime.renewing import Keeper


class Holding:
    def __init__(self, open_store: Callable[[], Store], *, outlasts_outages: bool = False) -> None:
        """See Keeper for `outlasts_outages`."""
        self._open_store = open_store
        self._outlasts_outages = outlasts_outages
        self._keepers: dict[int, Keeper] = {}
        self._some_lost = threading.Event()
        self.lanes: dict[int, Lease] = {}  # by fence; locks are none

    def keep(self, lease: Lease, *, asked_at: float) -> None:
        """Also when it is said again: then its keeper is at it already."""
        if lease.fence in self._keepers:
            return
        keeper = Keeper(
            lease,
            self._open_store,
            asked_at=asked_at,
            tell=self._some_lost,
            outlasts_outages=self._outlasts_outages,
        )
        keeper.start()
        self._keepers[lease.fence] = keeper
        if not lease.is_lock:
            self.lanes[lease.fence] = lease

    def let_go(self, fence: int) -> None:
        self.lanes.pop(fence, None)
        if keeper := self._keepers.pop(fence, None):
            keeper.stop()
        self._some_lost.clear()
        if any(keeper.lost.is_set() for keeper in self._keepers.values()):
            self._some_lost.set()

    def prove(self, store: Store, *, doubtful: bool) -> None:
        """Raise unless all of them are surely ours."""
        for keeper in self._keepers.values():
            keeper.check(store, doubtful=doubtful)

    def is_lost(self) -> bool:
        return any(keeper.is_lost() for keeper in self._keepers.values())

    def pause(self, seconds: float) -> None:
        """Shorter when any of them is lost meanwhile."""
        self._some_lost.wait(seconds)

    def close(self) -> None:
        for fence in list(self._keepers):
            self.let_go(fence)
