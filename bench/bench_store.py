"""Durable append, and acquire + release, in process, on journals of 10³, 10⁵ and 10⁶ events, beside
a bare fsync."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Request
from dos.regions import region
from journals import fill, open_at
from table import median, show

SIZES = (1_000, 100_000, 1_000_000)
ASKED = Request(lane="api", holder="bench", host="bench", ttl_ms=60_000, region=region(["api/**"]))
ROUNDS = 300


def main() -> None:
    sizes = [size for size in SIZES if size <= (int(sys.argv[1]) if sys.argv[1:] else SIZES[-1])]
    with tempfile.TemporaryDirectory() as home:
        stores = {}
        for size in sizes:
            stores[size] = open_at(Path(home) / str(size))
            fill(stores[size], size)
        floor = _fsync(Path(home))
        rows = []
        for size, store in stores.items():
            appended = _time(lambda store=store: store.append("bench", "noted", {"n": 1}))
            leased = _time(lambda store=store: _lease(store))
            rows.append((f"{size:,}", appended, appended / floor, leased, leased / floor))
            store.close()
    header = ("events", "append ms", "/ fsync", "acquire+release ms", "/ fsync")
    show(
        f"Durable writes; one fsync took {floor:.3f} ms (aim: under 1 ms each, flat)", header, rows
    )


def _lease(store: Store) -> None:
    lease = store.acquire(ASKED, admission.judge)
    assert isinstance(lease, Lease)
    store.release(lease.fence)


def _fsync(directory: Path) -> float:
    handle = os.open(directory / "floor", os.O_CREAT | os.O_WRONLY)

    def once() -> None:
        os.write(handle, b"x" * 4096)
        os.fdatasync(handle)

    taken = _time(once)
    os.close(handle)
    return taken


def _time(act: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken)


if __name__ == "__main__":
    main()
