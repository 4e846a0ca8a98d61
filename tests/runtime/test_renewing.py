"""A lease is kept by a thread of its own, and its loss is said in time."""

import threading
import time

from dos.errors import StoreUnreachable
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.records.leases import Lease, Request
from dos.records.regions import region
from dos.runtime.renewing import Keeper
from dos.verdicts.access import admission


def acquire(store: Store, ttl_ms: int) -> Lease:
    asked = Request(lane="api", holder="me", host="h", ttl_ms=ttl_ms, region=region(["api/**"]))
    lease = store.acquire(asked, admission.judge)
    assert isinstance(lease, Lease)
    return lease


def test_it_renews_until_it_is_stopped():
    store = Store(MemoryBackend())
    lease = acquire(store, 400)
    keeper = Keeper(lease, lambda: store, lambda: None)
    keeper.start()
    time.sleep(1.2)
    keeper.stop()
    assert not store.lapsed(store.leases()[0])
    assert [event.kind for event in store.tail()].count("lease_renewed") >= 5


def test_a_lease_that_was_taken_away_is_told():
    store, lost = Store(MemoryBackend()), threading.Event()
    lease = acquire(store, 400)
    store.revoke(lease.fence, version=lease.version, reason="test")
    Keeper(lease, lambda: store, lost.set).start()
    assert lost.wait(5)


def test_a_journal_that_cannot_be_reached_means_loss_when_the_time_is_over_and_not_before():
    store, lost = Store(MemoryBackend()), threading.Event()

    def unreachable() -> Store:
        raise StoreUnreachable("gone")

    Keeper(acquire(store, 1000), unreachable, lost.set).start()
    assert not lost.wait(0.5)
    assert lost.wait(5)
