"""A contender whose wall clock is wrong: it takes, renews, writes under and gives back one lane, or
dies holding it.

python skewed.py SKEW_SECONDS RULE URL STATE_DIRECTORY WORKSPACE MODE

The clock is set before anything of dos is loaded. With the rule `wall`, leases follow it: that is
the planted bug.
"""

import sys
import time

_skew_ns = int(sys.argv[1]) * 1_000_000_000
_time_ns = time.time_ns
time.time_ns = lambda: _time_ns() + _skew_ns
time.time = lambda: (_time_ns() + _skew_ns) / 1e9

from pathlib import Path  # noqa: E402

from dos.errors import Fenced  # noqa: E402
from dos.journal.backends.open import open_store  # noqa: E402
from dos.journal.store import Store  # noqa: E402
from dos.lanes import admission  # noqa: E402
from dos.lease import Lease, Refusal, Request  # noqa: E402
from dos.regions import region  # noqa: E402
from dos.times import SystemClock  # noqa: E402


def acquire(store: Store, ttl_ms: int) -> Lease | Refusal:
    request = Request(
        lane="api", holder=sys.argv[1], host="here", ttl_ms=ttl_ms, region=region(["api/**"])
    )
    return store.acquire(request, admission.judge)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def contend(store: Store, seconds: float) -> None:
    """Nobody pauses for as long as a lease lasts, so nobody may ever lose one.

    It begins when told to, so that both contenders have the lane to fight for.
    """
    say("ready")
    sys.stdin.readline()
    granted = refused = lost = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        lease = acquire(store, 60_000)
        if isinstance(lease, Refusal):
            refused += 1
            continue
        granted += 1
        try:
            for _ in range(3):
                lost += len(store.renew([lease.fence]).lost)
                store.append("work/api", "written", {}, fence=lease.fence)
            store.release(lease.fence)
        except Fenced:
            lost += 1
        time.sleep(0.002)  # the other one's turn
    say(granted, refused, lost)


def hold(store: Store, ttl_ms: int) -> None:
    """Take the lane when told to, and on each further line say whether it is still ours."""
    sys.stdin.readline()
    lease = acquire(store, ttl_ms)
    assert isinstance(lease, Lease), lease
    say("granted", lease.fence)
    while sys.stdin.readline():
        renewal = store.renew([lease.fence])
        try:
            store.append("work/api", "written", {}, fence=lease.fence)
            say("kept" if renewal.kept else "written and lost")
        except Fenced:
            say("lost" if renewal.lost else "kept and fenced")


def take(store: Store) -> None:
    """Ask until it is granted."""
    while isinstance(lease := acquire(store, 60_000), Refusal):
        time.sleep(0.01)
    say("granted", lease.fence)


def main(_skew: str, rule: str, url: str, directory: str, workspace: str, mode: str) -> None:
    if rule == "wall":
        SystemClock.lease_ms = SystemClock.wall_ms  # type: ignore[method-assign]
    with open_store(
        url, state_directory=Path(directory), workspace_id=workspace, actor="skewed"
    ) as store:
        name, _, amount = mode.partition(" ")
        match name:
            case "contend":
                contend(store, float(amount))
            case "hold":
                hold(store, int(amount))
            case "take":
                take(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
