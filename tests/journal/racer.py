"""One contender of the race: takes, keeps, writes under and gives back random lanes until it is
told to stop or killed.

python racer.py URL STATE_DIRECTORY SEED SECONDS
"""

import random
import sys
import time
from functools import partial
from pathlib import Path

from dos.errors import Fenced
from dos.journal.backends.open import open_store
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Refusal, Request
from dos.regions import Mode, region

TTL_MS = 1000
# Equal, nested, disjoint, the whole tree, one that runs alone, and readers beside writers.
LANES = {
    "api": (["src/api/**"], {}),
    "api-handlers": (["src/api/handlers/**"], {}),
    "src": (["src/**"], {}),
    "docs": (["docs/**", "README.md"], {}),
    "web": (["web/**"], {}),
    "web-too": (["web/**"], {}),
    "everything": (["**/*"], {}),
    "alone": (["deploy/**"], {"exclusive": True}),
    "review": (["web/**"], {"mode": Mode.SHARED}),
}


def main(url: str, directory: str, seed: str, seconds: str) -> None:
    dice = random.Random(seed)
    counts = {"granted": 0, "refused": 0, "renewed": 0, "lost": 0, "written": 0}
    store = open_store(
        url, state_directory=Path(directory), workspace_id="race", actor=f"racer-{seed}"
    )
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        contend(store, dice, seed, counts)
    store.close()
    sys.stdout.write(" ".join(f"{name}={count}" for name, count in counts.items()) + "\n")


def contend(store: Store, dice: random.Random, seed: str, counts: dict[str, int]) -> None:
    name = dice.choices(list(LANES), weights=[4, 4, 2, 4, 4, 4, 1, 1, 4])[0]
    globs, extra = LANES[name]
    request = Request(
        lane=name, holder=seed, host="race", ttl_ms=TTL_MS, region=region(globs), **extra
    )
    lease = store.acquire(request, partial(admission.judge, budgets={"cluster": 6}))
    if isinstance(lease, Refusal):
        counts["refused"] += 1
        return
    counts["granted"] += 1
    for beat in range(dice.randrange(4)):
        renewal = store.renew([lease.fence])
        counts["renewed"] += len(renewal.kept)
        counts["lost"] += len(renewal.lost)
        try:
            store.append(f"work/{name}", "written", {"beat": beat}, fence=lease.fence)
            counts["written"] += 1
        except Fenced:
            counts["lost"] += 1
            return
        if dice.random() < 0.02:
            time.sleep(
                1.5 * TTL_MS / 1000
            )  # a pause longer than the lease: it may be taken over meanwhile
    if dice.random() < 0.9:
        try:
            store.release(lease.fence)
        except Fenced:
            counts["lost"] += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
