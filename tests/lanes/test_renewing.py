"""A lease is kept by a thread of its own, and its loss is said in time."""

import threading
import time

import pytest
from patience import PATIENCE, wait_for

from dos.errors import Fenced, StoreUnreachable
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.io.held_leases import LeaseRenewer
from dos.lease import Lease, Request
from dos.regions import region


def acquire(store: Store, ttl_ms: int) -> Lease:
    request = Request(lane="api", holder="me", host="h", ttl_ms=ttl_ms, region=region(["api/**"]))
    lease = store.acquire(request, admission.judge)
    assert isinstance(lease, Lease)
    return lease


def test_it_renews_until_it_is_stopped():
    store = Store(MemoryBackend())
    lease = acquire(store, 400)
    keeper = LeaseRenewer(lease, lambda: store)
    keeper.start()
    wait_for(
        lambda: [event.kind for event in store.tail()].count("lease_renewed") >= 5, "it is renewed"
    )
    keeper.stop()
    assert store.leases()[0].expires_ms > lease.expires_ms
    last = store.last()
    time.sleep(0.5)
    assert store.last() == last, "nobody renews it any more"


def test_a_lease_that_was_taken_away_is_told():
    store = Store(MemoryBackend())
    lease = acquire(store, 400)
    store.revoke(lease.fence, version=lease.version, reason="test")
    keeper = LeaseRenewer(lease, lambda: store)
    keeper.start()
    assert keeper.lost.wait(PATIENCE)
    with pytest.raises(Fenced):
        keeper.check(store, doubtful=False)


def test_a_journal_that_cannot_be_reached_means_loss_when_the_time_is_over_and_not_before():
    def unreachable() -> Store:
        raise StoreUnreachable("gone")

    keeper = LeaseRenewer(acquire(Store(MemoryBackend()), 1000), unreachable)
    began = time.monotonic()
    keeper.start()
    assert keeper.lost.wait(PATIENCE)
    assert time.monotonic() - began > 0.5


def test_a_renewal_that_is_stuck_on_its_way_means_loss_too():
    store, stuck = Store(MemoryBackend()), threading.Event()
    lease = acquire(store, 400)

    class Frozen(Store):
        def renew(self, fences, *, coalesce_ms=0):
            stuck.wait(PATIENCE)
            return super().renew(fences)

    keeper = LeaseRenewer(lease, lambda: Frozen(store.backend))
    keeper.start()
    assert not keeper.is_lost()
    wait_for(keeper.is_lost, "the loss is told")
    stuck.set()
    keeper.stop()


def test_a_lease_whose_time_is_over_is_proven_by_a_renewal_before_anything_is_done():
    store = Store(MemoryBackend())
    mine = LeaseRenewer(acquire(store, 100), lambda: store)
    time.sleep(0.2)
    mine.check(store, doubtful=False)
    assert [event.kind for event in store.tail()].count("lease_renewed") == 1, "nobody has taken it"
    time.sleep(0.2)
    acquire(store, 60_000)
    with pytest.raises(Fenced):
        mine.check(store, doubtful=False)


def test_a_lease_that_is_doubtful_is_proven_though_its_time_is_not_over():
    store = Store(MemoryBackend())
    lease = acquire(store, 60_000)
    keeper = LeaseRenewer(lease, lambda: store)
    keeper.check(store, doubtful=True)
    store.release(lease.fence)
    keeper.check(store, doubtful=False)
    with pytest.raises(Fenced):
        keeper.check(store, doubtful=True)
