"""The leases that this process holds, each renewed by a thread of its own."""

import os
import threading
from collections.abc import Callable

from dos.config.schema import Config
from dos.errors import BadInput, Fenced, StoreFailed
from dos.journal.store import Store
from dos.lanes.parts import part_number
from dos.lease import Lease, Request, key_hash
from dos.machine import process
from dos.regions import region
from dos.times import SystemClock

STOP_SECONDS = 10.0  # to wait for a renewal that is under way when the renewer is stopped


def lease_seconds() -> float:
    """The clock that leases follow, in seconds; it does not stop while the machine sleeps."""
    return SystemClock().lease_ms() / 1000


class LeaseRenewer(threading.Thread):
    """Renews one lease until it is stopped or the lease is lost.

    A lease is lost once another holder took it, or once it was not renewed in time, so that
    another holder may take it at any moment.
    """

    def __init__(
        self,
        lease: Lease,
        open_store: Callable[[], Store],
        *,
        requested_at: float | None = None,
        also_set: threading.Event | None = None,
        outlasts_outages: bool = False,
    ) -> None:
        """`also_set` is set, too, when the lease is lost: for a caller that waits for several.

        With `outlasts_outages` only the store can say that the lease is lost, however long the
        store is away. That is for a holder that does nothing meanwhile, and that renews the lease
        before it does anything again.
        """
        super().__init__(name="lease-keeper", daemon=True)
        self._also_set = also_set
        self._outlasts_outages = outlasts_outages
        self.lost = threading.Event()
        self._lease = lease
        self._open_store = open_store
        self._done = threading.Event()
        if requested_at is None:
            requested_at = lease_seconds()
        self._ends = requested_at + lease.ttl_ms / 1000

    def stop(self) -> None:
        """Stop renewing; waits for a renewal that is under way."""
        self._done.set()
        if self.is_alive():
            self.join(STOP_SECONDS)

    def check(self, store: Store, *, doubtful: bool) -> None:
        """Raise Fenced unless the lease is surely ours.

        If it is `doubtful`, or the lease's time is over, a renewal decides.
        """
        if self.lost.is_set():
            fence = self._lease.fence
            raise Fenced(f"the lease with fence {fence} was taken over, or not renewed in its time")
        if doubtful or lease_seconds() >= self._ends:
            self._renew(store)

    def is_lost(self) -> bool:
        """Whether the lease is lost, also if a renewal is stuck and cannot report it."""
        return self.lost.is_set() or self._is_over(self._ends + self._pause())

    def run(self) -> None:
        """Renew until stopped; reopen the store after a failure while the lease lasts."""
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
                self._done.wait(self._pause() / 4)  # then the store is opened again

    def _renew(self, store: Store) -> None:
        """Renew once. Raises Fenced if the lease was taken over."""
        began = lease_seconds()
        if store.renew([self._lease.fence]).lost:
            self._lose()
            raise Fenced(f"the lease with fence {self._lease.fence} was taken over")
        # From when the renewal was sent: the store may have granted it no later than that.
        self._ends = max(self._ends, began + self._lease.ttl_ms / 1000)

    def _is_over(self, ends: float) -> bool:
        """Whether the lease's time is over by this process's own clock."""
        return not self._outlasts_outages and lease_seconds() >= ends

    def _lose(self) -> None:
        """Tell those who wait that the lease is lost."""
        self.lost.set()
        if self._also_set:
            self._also_set.set()

    def _pause(self) -> float:
        """Seconds between two renewals: a quarter of the lease's time."""
        return self._lease.ttl_ms / 4000


class HeldLeases:
    """All leases of this process. Each is renewed until it is released."""

    def __init__(self, open_store: Callable[[], Store], *, outlasts_outages: bool = False) -> None:
        """See LeaseRenewer for `outlasts_outages`."""
        self._open_store = open_store
        self._outlasts_outages = outlasts_outages
        self._renewers: dict[int, LeaseRenewer] = {}
        self._some_lost = threading.Event()
        self.lanes: dict[int, Lease] = {}  # by fence, without locks

    def add(self, lease: Lease, *, requested_at: float) -> None:
        """Start renewing a lease; nothing happens if it is renewed already."""
        if lease.fence in self._renewers:
            return
        renewer = LeaseRenewer(
            lease,
            self._open_store,
            requested_at=requested_at,
            also_set=self._some_lost,
            outlasts_outages=self._outlasts_outages,
        )
        renewer.start()
        self._renewers[lease.fence] = renewer
        if not lease.is_lock:
            self.lanes[lease.fence] = lease

    def release(self, fence: int) -> None:
        """Stop renewing a lease; nothing is written to the journal."""
        self.lanes.pop(fence, None)
        if renewer := self._renewers.pop(fence, None):
            renewer.stop()
        self._some_lost.clear()
        if any(renewer.lost.is_set() for renewer in self._renewers.values()):
            self._some_lost.set()

    def check(self, store: Store, *, doubtful: bool) -> None:
        """Raise Fenced unless all of them are surely ours."""
        for renewer in self._renewers.values():
            renewer.check(store, doubtful=doubtful)

    def is_lost(self) -> bool:
        """Whether any of them is lost."""
        return any(renewer.is_lost() for renewer in self._renewers.values())

    def pause(self, seconds: float) -> None:
        """Wait so long, or until one of them is lost."""
        self._some_lost.wait(seconds)

    def close(self) -> None:
        """Stop renewing all of them."""
        for fence in list(self._renewers):
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
    """The lease that this process asks for, to renew it itself. Raises BadInput: no such lane."""
    pid = os.getpid()
    own_process = process.identify(pid)
    name: str | None = lane
    if not is_lock:
        name = config.canonical_lane(lane)
    if name is None:
        raise BadInput(
            f"there is no lane {lane!r}; the lanes are {', '.join(config.known_lanes())}",
            hint="`dos man lane` lists them; [lanes] in dos.toml declares them.",
        )
    lane_region = None
    if not is_lock:
        lane_region = config.lane_region(name)
    has_key = bool(lease_key) and not is_lock
    return Request(
        lane=name,
        holder=f"{process.host()}:{pid}",
        host=process.host(),
        ttl_ms=int(config.leases.ttl_seconds * 1000),
        region=lane_region or region([]),
        kind="lock" if is_lock else "cluster",
        exclusive=not is_lock and config.is_exclusive(name),
        part_of="" if is_lock else config.lanes.whole_of(name),
        part_number=part_number(config.lanes, name),
        is_lock=is_lock,
        run_id=run_id,
        pid=pid,
        pid_started=own_process.started if own_process else None,
        system=process.system(),
        start_sha=start_sha,
        key_hash=key_hash(lease_key) if has_key else "",
    )
