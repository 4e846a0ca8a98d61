"""Lease operations a second at 1, 8 and 32 processes, all on one lane and each on its own.

Who is refused looks again after a few milliseconds, as a waiting worker does; it does not spin.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from journals import open_at
from table import show

SECONDS = 4.0
CHILD = """
import random, sys, time
from pathlib import Path
from dos.journal.backends.open import open_store
from dos.lease import Lease, Request
from dos.regions import region
from dos.lanes import admission
directory, lane, seconds = sys.argv[1:]
store = open_store("", state_directory=Path(directory), workspace_id="", actor=lane)
asked = Request(lane=lane, holder=str(id(store)), host="b", ttl_ms=60000,
                region=region([f"{lane}/**"]))
print("ready", flush=True)
sys.stdin.readline()
until = time.perf_counter() + float(seconds)
granted = refused = 0
longest = 0.0
while time.perf_counter() < until:
    began = time.perf_counter()
    lease = store.acquire(asked, admission.judge)
    if isinstance(lease, Lease):
        store.release(lease.fence)
        granted += 1
        longest = max(longest, time.perf_counter() - began)
    else:
        refused += 1
        time.sleep(random.uniform(0.001, 0.005))
print(granted, refused, longest * 1000)
"""


def main() -> None:
    rows = []
    for spread in ("one lane", "own lanes"):
        alone = 0.0
        for processes in (1, 8, 32):
            found = _race(processes, spread)
            granted = sum(row[0] for row in found)
            # A grant is two durable operations, acquire and release; a refusal is one read.
            operations = (2 * granted + sum(row[1] for row in found)) / SECONDS
            alone = alone or operations
            rows.append(
                (
                    spread, processes, f"{operations:.0f}", operations / alone,
                    f"{granted / SECONDS:.0f}", int(min(row[0] for row in found)),
                    f"{max(row[2] for row in found):.0f}",
                )
            )  # fmt: skip
    header = ("lanes", "processes", "ops/s", "/ alone", "grants/s", "fewest grants", "longest ms")
    show("Lease operations (aim: 2,000 a second at 8, nobody starved)", header, rows)


def _race(processes: int, spread: str) -> list[tuple[float, ...]]:
    with tempfile.TemporaryDirectory() as home:
        open_at(Path(home)).close()
        children = []
        for number in range(processes):
            lane = "same" if spread == "one lane" else f"lane{number}"
            words = [sys.executable, "-c", CHILD, home, lane, str(SECONDS)]
            children.append(
                subprocess.Popen(
                    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
                )
            )
        for child in children:
            assert child.stdout and child.stdout.readline().strip() == "ready"
        time.sleep(0.2)
        for child in children:
            assert child.stdin
            child.stdin.write("go\n")
        lines = [child.communicate(timeout=120)[0] for child in children]
        return [tuple(float(word) for word in line.split()) for line in lines]


if __name__ == "__main__":
    main()
