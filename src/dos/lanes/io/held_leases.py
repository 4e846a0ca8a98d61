"""The leases that this process holds, each kept alive by a thread of its own."""

import os
import threading
from collections.abc import Callable

from dos.config.schema import Config
from dos.errors import BadInput, Fenced, StoreFailed
from dos.journal.clock import SystemClock
from dos.journal.store import Store
from dos.lease import Lease, Request, key_hash
from dos.machine import process
from dos.regions import region

STOP_SECONDS = 10.0  # for a renewal that is under way when the keeper is stopped


def lease_seconds() -> float:
    """In seconds, by the clock that leases follow: it goes on while the machine sleeps."""
    return SystemClock().lease_ms() / 1000


class LeaseRenewer(threading.Thread):
    def __init__(
        self,
        lease: Lease,
        open_store: Callable[[], Store],
        *,
        requested_at: float | None = None,
        also_set: threading.Event | None = None,
        outlasts_outages: bool = False,
    ) -> None:
        """`tell` is set, too, when the lease is lost: for whoever waits for the first of several.

        With `outlasts_outages` it is lost only by the store's word, however long the store is away: for a holder that
        does nothing meanwhile, and renews it before it does anything again.
        """
        super().__init__(name="lease-keeper", daemon=True)
        self._tell = also_set
        self._outlasts_outages = outlasts_outages
        self.lost = threading.Event()
        self._lease = lease
        self._open_store = open_store
        self._done = threading.Event()
        self._ends = (
            lease_seconds() if requested_at is None else requested_at
        ) + lease.ttl_ms / 1000

    def stop(self) -> None:
        self._done.set()
        if self.is_alive():
            self.join(STOP_SECONDS)

    def check(self, store: Store, *, doubtful: bool) -> None:
        """Raise unless the lease is surely ours; where its time is over or that is doubtful, by a renewal."""
        if self.lost.is_set():
            raise Fenced(
                f"the lease with fence {self._lease.fence} was taken over, or not renewed in its time"
            )
        if doubtful or lease_seconds() >= self._ends:
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
        began = lease_seconds()
        if store.renew([self._lease.fence]).lost:
            self._lose()
            raise Fenced(f"the lease with fence {self._lease.fence} was taken over")
        self._ends = max(self._ends, began + self._lease.ttl_ms / 1000)

    def _is_over(self, ends: float) -> bool:
        return not self._outlasts_outages and lease_seconds() >= ends

    def _lose(self) -> None:
        self.lost.set()
        if self._tell:
            self._tell.set()

    def _pause(self) -> float:
        return self._lease.ttl_ms / 4000


class HeldLeases:
    def __init__(self, open_store: Callable[[], Store], *, outlasts_outages: bool = False) -> None:
        """See Keeper for `outlasts_outages`."""
        self._open_store = open_store
        self._outlasts_outages = outlasts_outages
        self._keepers: dict[int, LeaseRenewer] = {}
        self._some_lost = threading.Event()
        self.lanes: dict[int, Lease] = {}  # by fence; locks are none

    def add(self, lease: Lease, *, requested_at: float) -> None:
        """Also when it is said again: then its keeper is at it already."""
        if lease.fence in self._keepers:
            return
        keeper = LeaseRenewer(
            lease,
            self._open_store,
            requested_at=requested_at,
            also_set=self._some_lost,
            outlasts_outages=self._outlasts_outages,
        )
        keeper.start()
        self._keepers[lease.fence] = keeper
        if not lease.is_lock:
            self.lanes[lease.fence] = lease

    def release(self, fence: int) -> None:
        self.lanes.pop(fence, None)
        if keeper := self._keepers.pop(fence, None):
            keeper.stop()
        self._some_lost.clear()
        if any(keeper.lost.is_set() for keeper in self._keepers.values()):
            self._some_lost.set()

    def check(self, store: Store, *, doubtful: bool) -> None:
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
            self.release(fence)


def lease_request(
    config: Config,
    lane: str,
    *,
    run_id: str,
    lease_key: str = "",
    is_lock: bool = False,
    start_sha: str = "",
) -> Request:
    """What a process that renews by itself asks for."""
    me = process.identify(os.getpid())
    name = lane if is_lock else config.canonical_lane(lane)
    if name is None:
        raise BadInput(
            f"there is no lane {lane!r}; the lanes are {', '.join(config.known_lanes())}",
            hint="`dos man lane` lists them; [lanes] in dos.toml declares them.",
        )
    return Request(
        lane=name,
        holder=f"{process.host()}:{os.getpid()}",
        host=process.host(),
        ttl_ms=int(config.leases.ttl_seconds * 1000),
        region=region([]) if is_lock else config.lane_region(name) or region([]),
        kind="lock" if is_lock else "cluster",
        exclusive=not is_lock and config.is_exclusive(name),
        is_lock=is_lock,
        run_id=run_id,
        pid=os.getpid(),
        pid_started=me.started if me else None,
        system=process.system(),
        start_sha=start_sha,
        key_hash=key_hash(lease_key) if lease_key and not is_lock else "",
    )
