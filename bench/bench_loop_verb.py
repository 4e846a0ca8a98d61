"""`dos loop` with eight live leases, on journals of 10³ and 10⁶ events, beside an interpreter that
does nothing."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dos.lanes import admission
from dos.lease import Lease, Request
from dos.regions import region
from journals import fill, open_at
from table import median, show

ROUNDS = 9
LANES = [f"lane{number}" for number in range(8)]
CONFIG = f"""[lanes]
concurrent = {LANES}
autopick = {LANES}
[lanes.trees]
""" + "".join(f'{lane} = ["{lane}/**"]\n' for lane in LANES)


def main() -> None:
    sizes = (1_000, int(sys.argv[1]) if sys.argv[1:] else 1_000_000)
    with tempfile.TemporaryDirectory() as home:
        places = {size: _workspace(Path(home) / str(size), size) for size in sizes}
        # As installed: with its modules compiled, whatever this shell thinks of that.
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        floor: list[float] = []
        times: dict[int, list[float]] = {size: [] for size in sizes}
        for _ in range(ROUNDS):  # interleaved, so that a slow minute slows all of them
            floor.append(_time([sys.executable, "-c", "pass"], Path(home), environment))
            for size, place in places.items():
                words = [
                    str(Path(sys.executable).with_name("dos")),
                    "loop",
                    "--target",
                    "8",
                    "--json",
                ]
                times[size].append(_time(words, place, environment))
    least = median(floor)
    rows = [("python -c pass", least * 1000, 1.0)]
    rows += [
        (f"{size:,} events", median(found) * 1000, median(found) / least)
        for size, found in times.items()
    ]
    show("dos loop (aim: the same for both, within 6)", ("", "ms", "ratio"), rows)


def _workspace(root: Path, events: int) -> Path:
    root.mkdir()
    (root / "dos.toml").write_text(CONFIG)
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    with open_at(root / ".git" / "dos") as store:
        fill(store, events)
        for lane in LANES:
            request = Request(
                lane=lane,
                holder="bench",
                host="bench",
                ttl_ms=3_600_000,
                region=region([f"{lane}/**"]),
                run_id="",
            )
            assert isinstance(store.acquire(request, admission.judge), Lease)
    return root


def _time(words: list[str], cwd: Path, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(words, cwd=cwd, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
