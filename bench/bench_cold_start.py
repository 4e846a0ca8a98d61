"""Cold latency of every verb that ends by itself, beside an interpreter that does nothing."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from dos.verbs.listing.table import VERBS
from table import median, show

ROUNDS = 7
NOTHING = "python -c pass"
RUN_A_FLEET = {"demo", "quickstart", "serve", "up", "worker"}  # their time is not their start
# What a verb needs beside its name. Whatever it changes, it changes in the bench's own workspace.
WORDS = {
    "init": ["--dry-run"],
    "arbitrate": ["--lane", "src"],
    "lease-lane acquire": ["--owner", "bench", "--lane", "src"],
    "lease-lane heartbeat": ["--owner", "bench", "--lane", "src"],
    "lease-lane adopt": ["--owner", "bench", "--lane", "src"],
    "lease-lane release": ["--owner", "bench", "--lane", "src"],
    "lease-lane wait": ["--lane", "src", "--timeout", "0"],
    "lease-lane spawn": ["--lane", "src"],
    "scope-gate": ["--lane", "src", "--file", "src/a.py"],
    "lease acquire": ["bench"],
    "lease release": ["bench"],
    "journal show": ["1"],
    "journal import": ["empty.jsonl"],
    "id-alloc allocate": ["bench"],
    "id-alloc peek": ["bench"],
    "run-id mint": ["bench"],
    "config get": ["supervise.target"],
    "config set": ["supervise.target", "2"],
    "config unset": ["supervise.target"],
    "man": ["lane"],
    "completion": ["lanes"],
}
CASES = {
    "--version": ["--version"],
    "--help": ["--help"],
    "completion bash": ["completion", "bash"],
    **{name: [*name.split(), *WORDS.get(name, [])] for name in VERBS if name not in RUN_A_FLEET},
}


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        (root / "src").mkdir()
        (root / "src" / "a.py").touch()
        (root / "empty.jsonl").touch()
        for words in (
            ["git", "init", "-q"],
            ["git", "add", "-A"],
            ["git", "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"],
            [sys.executable, "-m", "dos", "init"],
        ):
            subprocess.run(words, cwd=root, check=True, capture_output=True)
        rows = measured(root)
    title = (
        "Cold start (aim: --help and --version within 3, a verdict within 5; on a busy "
        "machine only cpu is true)"
    )
    show(title, ("verb", "ms", "ratio", "cpu ms", "cpu ratio"), rows)


def measured(root: Path) -> list[tuple[str, float, float, float, float]]:
    """Every case, the slowest last. A verb that cannot use its words would be quick for nothing, so
    that ends it."""
    # As installed: with its modules compiled, whatever this shell thinks of that.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    dos = [str(Path(sys.executable).with_name("dos"))]
    times: dict[str, list[float]] = {name: [] for name in (NOTHING, *CASES)}
    work: dict[str, list[float]] = {name: [] for name in times}
    for _ in range(ROUNDS):  # interleaved, so that a slow minute slows all of them
        for name in times:
            command = [sys.executable, "-c", "pass"] if name == NOTHING else dos + CASES[name]
            began, worked = time.perf_counter(), cpu_seconds()
            done = subprocess.run(command, cwd=root, capture_output=True, env=environment)
            times[name].append(time.perf_counter() - began)
            work[name].append(cpu_seconds() - worked)
            if done.returncode not in (0, 1):
                sys.exit(f"{' '.join(command)} exited {done.returncode}: {done.stderr.decode()}")
    middle = {name: (median(times[name]), median(work[name])) for name in times}
    rows = [
        (name, wall * 1000, wall / middle[NOTHING][0], cpu * 1000, cpu / middle[NOTHING][1])
        for name, (wall, cpu) in middle.items()
    ]
    return sorted(rows, key=lambda row: row[3])


def cpu_seconds() -> float:
    """Of all that was started and has ended, git included."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
