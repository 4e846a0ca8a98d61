"""What a look at the target branch costs after one landing: all of it anew, and what the landing
can have changed."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dos.backlog.io import landed
from dos.fleet.state.fleet import FleetState, UnitState
from dos.verify.io.verdict_cache import VerdictCache
from dos.world import World
from histories import make
from table import median, show

SIZES = (100, 1_000, 5_000)
ROUNDS = 3
FOLDERS = 70
MAIN = "refs/heads/main"


def history(home: Path, units: int) -> Path:
    """Land each unit by one commit; no commit changes what another one did."""
    named = {number: f"MANY{number}: do it" for number in range(units)}
    root = make(home, units, named, place=lambda number: f"src/{number % FOLDERS}/unit{number}.py")
    (root / "docs").mkdir()
    text = "".join(
        f"## MANY MANY{number}: do it\n\n- paths: src/**\n\n" for number in range(units + ROUNDS)
    )
    (root / "docs" / "many-plan.md").write_text(text, encoding="utf-8")
    commit(root, "declare")
    return root


def commit(root: Path, message: str) -> str:
    own = ("-c", "user.name=b", "-c", "user.email=b@b")
    for words in (["add", "--all"], [*own, "commit", "--quiet", "-m", message]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return (
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


def measured(root: Path, units: int) -> tuple[float, float]:
    """The medians of both in milliseconds, each after the same landing."""
    names = [f"MANY/MANY{number}" for number in range(units + ROUNDS)]
    memory = VerdictCache()
    taken: dict[bool, list[float]] = {True: [], False: []}
    with World(root, lenient=True) as world:
        state = landed.inspect_target(world, names, FleetState(), ref=MAIN, memory=memory)[1]
        assert sum(bool(unit.landed) for unit in state.units.values()) == units, (
            "the bench's units did not land"
        )
        for number in range(units, units + ROUNDS):
            (root / "src" / f"new{number}.py").write_text(f"def new_{number}():\n    return 1\n")
            state.units[names[number]] = UnitState(landed=commit(root, f"MANY{number}: do it"))
            found = []
            for remembers in (True, False):
                began = time.perf_counter()
                found.append(
                    landed.inspect_target(
                        world, names, state, ref=MAIN, memory=memory if remembers else None
                    )
                )
                taken[remembers].append((time.perf_counter() - began) * 1000)
            assert found[0] == found[1], "they differ"
    return median(taken[False]), median(taken[True])


def main() -> None:
    rows = []
    for units in [int(word) for word in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as home:
            os.environ["XDG_CACHE_HOME"] = str(Path(home) / "cache")
            anew, again = measured(history(Path(home), units), units)
        rows.append((f"{units:,}", anew, again, anew / again))
    show(
        "a look after one landing",
        ("landed units", "all anew, ms", "what changed, ms", "ratio"),
        rows,
    )


if __name__ == "__main__":
    main()
