"""Opening a journal and reading the fleet's state, with a snapshot, at 10³ and 10⁶ events: time and
memory."""

import subprocess
import sys
import tempfile
from pathlib import Path

from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from journals import fill, open_at
from table import median, show

ROUNDS = 9
CHILD = """
import resource, sys, time
from pathlib import Path
from dos.journal import fold
from dos.journal.backends.open import open_store
from dos.fleet.state.fleet import Fleet
began = time.perf_counter()
store = open_store("", state_directory=Path(sys.argv[1]), workspace_id="", read_only=True)
state, pos = fold.current(store, Fleet)
taken = time.perf_counter() - began
print(taken * 1000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, pos)
"""


def main() -> None:
    sizes = (1_000, int(sys.argv[1]) if sys.argv[1:] else 1_000_000)
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory() as home:
        for size in sizes:
            with open_at(Path(home) / str(size)) as store:
                fill(store, size)
                state, pos = fold.current(store, FleetState)
                fold.save_snapshot(store, state, pos)
                fill(store, size + 500)  # the tail that every opening folds
        for _ in range(ROUNDS):
            for size in sizes:
                done = subprocess.run(
                    [sys.executable, "-c", CHILD, str(Path(home) / str(size))],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                taken, memory, _ = done.stdout.split()
                found[size].append((float(taken), float(memory)))
    first = sizes[0]
    base_time = median([taken for taken, _ in found[first]])
    base_memory = median([memory for _, memory in found[first]])
    rows = []
    for size in sizes:
        taken, memory = (median([row[column] for row in found[size]]) for column in (0, 1))
        rows.append((f"{size:,}", taken, taken / base_time, memory, memory / base_memory))
    show("Opening with a snapshot (aim: under 2)", ("events", "ms", "ratio", "MB", "ratio"), rows)


if __name__ == "__main__":
    main()
