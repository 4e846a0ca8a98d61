"""Asking a history whether a unit shipped: cold, warm, as a process and within one, beside git's
own search."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.world import World
from histories import make
from table import median, show

SIZES = (1_000, 10_000, 100_000)
UNITS = 100
ROUNDS = 5
NOTHING, SEARCH = "python -c pass", "git log -i --grep=AUTH1"
COLD, WARM, WITHIN = "dos verify, no index yet", "dos verify, warm", "warm, in process"
Acts = dict[
    str, tuple[str, Callable[[], object]]
]  # what -> what it is compared with, and how it is done


def history(home: Path, commits: int) -> Path:
    """One unit at the root, one a third down from the tip, and many spread over the history."""
    named = {
        (number + 1) * commits // (UNITS + 2): f"MANY{number}: do it" for number in range(UNITS)
    }
    root = make(home, commits, named | {0: "ROOT1: do it", commits * 2 // 3 + 1: "AUTH1: do it"})
    (root / "docs").mkdir()
    text = "".join(f"## MANY MANY{number}: do it\n\n- paths: src/**\n\n" for number in range(UNITS))
    (root / "docs" / "many-plan.md").write_text(text, encoding="utf-8")
    for words in (
        ["add", "--all"],
        ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "-m", "declare"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def acts(root: Path, cache: Path) -> Acts:
    dos = str(Path(sys.executable).with_name("dos"))
    # As installed: with its modules compiled, whatever this shell thinks of that.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }

    def command(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run(
            words, cwd=root, capture_output=True, env=environment, check=True
        )

    def forgotten() -> object:
        for file in cache.rglob("*.sqlite*"):
            file.unlink()
        return command(dos, "verify", "AUTH", "AUTH1")()

    def within(*units: tuple[str, str]) -> Callable[[], object]:
        return lambda: [
            each for each in verifier.verify(World(root), units or None, Ask()) if not each.shipped
        ]

    many = [("MANY", f"MANY{number}") for number in range(UNITS)]
    assert not within(("AUTH", "AUTH1"), ("ROOT", "ROOT1"))() and not within()(), (
        "the bench's units did not ship"
    )
    return {
        NOTHING: ("", command(sys.executable, "-c", "pass")),
        SEARCH: ("", command("git", "log", "-i", "--grep=AUTH1", "--format=%H")),
        COLD: (SEARCH, forgotten),
        "dos verify --no-index": (SEARCH, command(dos, "verify", "AUTH", "AUTH1", "--no-index")),
        WARM: (NOTHING, command(dos, "verify", "AUTH", "AUTH1")),
        "dos verify, warm, at the root": (NOTHING, command(dos, "verify", "ROOT", "ROOT1")),
        WITHIN: (SEARCH, within(("AUTH", "AUTH1"))),
        "warm, in process, at the root": (SEARCH, within(("ROOT", "ROOT1"))),
        f"dos verify --all, {UNITS} units": (NOTHING, command(dos, "verify", "--all")),
        f"{UNITS} units, in process": (WITHIN, within()),
        f"{UNITS} units one by one, in process": (
            WITHIN,
            lambda: [within(unit)() for unit in many],
        ),
    }


def measured(made: Acts) -> dict[str, float]:
    """The median of each in milliseconds."""
    taken: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(ROUNDS):  # interleaved, so that a slow minute slows all of them
        for name, (_, act) in made.items():
            began = time.perf_counter()
            act()
            taken[name].append((time.perf_counter() - began) * 1000)
    return {name: median(times) for name, times in taken.items()}


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    for commits in sizes:
        with tempfile.TemporaryDirectory() as home:
            cache = Path(home) / "cache"
            os.environ["XDG_CACHE_HOME"] = str(cache)
            made = acts(history(Path(home), commits), cache)
            times = measured(made)
        rows = [
            (name, times[name], times[name] / times[floor] if floor else "-", floor)
            for name, (floor, _) in made.items()
        ]
        rate = commits / max(times[COLD] - times[WARM], 0.001) * 60_000
        title = (
            f"{commits:,} commits; the index takes in {rate:,.0f} a minute (aim: warm within "
            f"half a second)"
        )
        show(title, ("what", "ms", "ratio", "of"), rows)


if __name__ == "__main__":
    main()
