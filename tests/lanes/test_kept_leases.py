"""The leases that a process holds: one renewer for each, and the loss of any is reported."""

import os
import threading
import time

import pytest
from patience import PATIENCE
from sample_repository import Repository

from dos.agents.io import orphans
from dos.errors import RemoteAway
from dos.fleet import effects
from dos.fleet.io.worker_effects import WorkerEffects
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.io import held_leases
from dos.lanes.io.held_leases import HeldLeases
from dos.lease import Lease, Request
from dos.machine import process
from dos.permission.io.asker import find_asker
from dos.regions import region
from dos.world import World


def acquire(store: Store, lane: str, *, ttl_ms: int = 60_000, pid: int | None = None) -> Lease:
    request = Request(
        lane=lane, holder="h", host="h", ttl_ms=ttl_ms, region=region([f"{lane}/**"]), pid=pid
    )
    taken = store.acquire(request, admission.judge)
    assert isinstance(taken, Lease)
    return taken


def keepers() -> int:
    return [thread.name for thread in threading.enumerate()].count("lease-keeper")


@pytest.fixture
def store() -> Store:
    return Store(MemoryBackend())


def test_a_lease_that_is_taken_again_has_one_keeper_and_then_none(store):
    before, holding, lease = keepers(), HeldLeases(lambda: store), acquire(store, "one")
    for _ in range(5):
        holding.add(lease, requested_at=held_leases.lease_seconds())
    assert keepers() == before + 1
    holding.release(lease.fence)
    assert keepers() == before


def test_the_loss_of_any_lease_ends_a_pause_and_one_that_was_given_back_does_not(store):
    holding = HeldLeases(lambda: store)
    kept, lost = acquire(store, "one"), acquire(store, "two", ttl_ms=400)
    for lease in (kept, lost):
        holding.add(lease, requested_at=held_leases.lease_seconds())
    store.revoke(lost.fence, version=lost.version, reason="test")
    began = time.monotonic()
    holding.pause(PATIENCE)
    assert time.monotonic() - began < PATIENCE
    holding.release(lost.fence)
    began = time.monotonic()
    holding.pause(0.2)
    assert time.monotonic() - began >= 0.2
    holding.close()


def test_a_lane_that_is_taken_in_several_tries_is_kept_once_and_its_last_holder_is_known(
    repository: Repository, monkeypatch
):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    dead = os.spawnlp(os.P_WAIT, "true", "true") or 2**22 - 1  # no process has this pid
    request = Request(
        lane="one", holder="dead", host=os.uname().nodename, ttl_ms=600_000,
        region=region(["one/**"]), pid=dead,
        pid_started=1.0, system=process.system(),
    )  # fmt: skip
    held = acting.store.acquire(request, admission.judge)
    assert isinstance(held, Lease)
    knew: list[list[int]] = []
    monkeypatch.setattr(
        orphans,
        "end_previous_worker",
        lambda state, before, mine: knew.append([x.fence for x in before]),
    )
    tries = iter([True, True, False])

    def raise_fence(lane, fence):
        if next(tries):
            raise RemoteAway("not now", hint="later")

    monkeypatch.setattr(acting._landing_on, "raise_fence", raise_fence)
    before = keepers()
    try:
        taken = acting.performers()[effects.TakeLease](
            effects.TakeLease(lane="one", run_id="RID-000000000000001")
        )
        assert isinstance(taken, Lease)
        assert keepers() == before + 1
        assert knew == [[held.fence]] * 3
    finally:
        acting.close()
    assert keepers() == before


def test_the_lane_of_a_worker_is_known_at_the_top_of_a_repository_with_dos_toml_below(
    repository: Repository,
):
    folder = repository.root / "svc"
    folder.mkdir()
    (repository.root / "dos.toml").rename(folder / "dos.toml")
    below, top = World(folder), World(repository.root)
    acting = WorkerEffects(below.workspace, below.config, actor="test")
    try:
        take = effects.TakeLease(lane="one", run_id="RID-000000000000001")
        taken = acting.performers()[effects.TakeLease](take)
        assert isinstance(taken, Lease)
        for world in (below, top):
            asker = find_asker(
                world, session="", tree=repository.root, caller_pid=os.getpid(), environment={}
            )
            expected = tuple(f"svc/{glob}" for glob in taken.region.globs)
            assert (asker.lane, asker.region.globs) == ("one", expected)
    finally:
        acting.close()
        below.close()
        top.close()
