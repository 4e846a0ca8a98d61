"""Cold latency of every verb that runs without arguments, beside an interpreter that does nothing."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from table import median, show

ROUNDS = 7
CASES: dict[str, list[str]] = {
    "--version": ["--version"],
    "--help": ["--help"],
    "arbitrate": ["arbitrate"],
    "arbitrate --lane src": ["arbitrate", "--lane", "src"],
    "scope-gate --file": ["scope-gate", "--lane", "src", "--file", "src/a.py"],
    "lease-lane live": ["lease-lane", "live"],
    "lease-lane acquire": ["lease-lane", "acquire", "--owner", "bench", "--lane", "src"],
    "lease-lane heartbeat": ["lease-lane", "heartbeat", "--owner", "bench", "--lane", "src"],
    "lease-lane release": ["lease-lane", "release", "--owner", "bench", "--lane", "src"],
    "lease status": ["lease", "status"],
    "journal seq": ["journal", "seq"],
    "journal tail": ["journal", "tail"],
    "run-id mint": ["run-id", "mint", "bench"],
    "id-alloc allocate": ["id-alloc", "allocate", "bench"],
    "lint": ["lint"],
    "config show": ["config", "show"],
    "exit-codes": ["exit-codes"],
    "man lane": ["man", "lane"],
    "status": ["status"],
    "doctor": ["doctor"],
}


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        (root / "src").mkdir()
        (root / "src" / "a.py").touch()
        for words in (["git", "init", "-q"], ["git", "add", "-A"], ["git", "-c", "user.name=b", "-c", "user.email=b@b",
                      "commit", "-qm", "x"], [sys.executable, "-m", "dos", "init"]):  # fmt: skip
            subprocess.run(words, cwd=root, check=True, capture_output=True)
        # As installed: with its modules compiled, whatever this shell thinks of that.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        dos = [str(Path(sys.executable).with_name("dos"))]
        times: dict[str, list[float]] = {name: [] for name in ("python -c pass", *CASES)}
        for _ in range(ROUNDS):  # interleaved, so that a slow minute slows all of them
            for name in times:
                command = [sys.executable, "-c", "pass"] if name == "python -c pass" else dos + CASES[name]
                began = time.perf_counter()
                subprocess.run(command, cwd=root, capture_output=True, env=environment)
                times[name].append(time.perf_counter() - began)
        floor = median(times["python -c pass"])
        rows = [(name, median(found) * 1000, median(found) / floor) for name, found in times.items()]
        show("Cold start (aim: --help and --version within 3, a verdict verb within 5)", ("verb", "ms", "ratio"), rows)


if __name__ == "__main__":
    main()
