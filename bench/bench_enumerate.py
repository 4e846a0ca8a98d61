"""Reading plan documents: by the grammar, from disk, and through the verbs, beside the least that
each could cost."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dos.config.schema import Config
from dos.units.io import sources
from dos.units.markdown import document
from dos.workspace import find
from table import median, show

DOCUMENTS = 1_000
UNITS = 10
ROUNDS = 5
UNIT = """## {number}. P{plan} P{plan}U{number} — make it so{stamp}

Some prose that says what should be true, in a sentence or two,
and one more line of it.

- lane: main
- paths: src/p{plan}/**
- depends: {depends}
- acceptance: `make test`

"""


def text(plan: int) -> str:
    parts = [f"# Plan {plan}\n\n"]
    for number in range(1, UNITS + 1):
        depends = f"P{plan}U{number - 1}" if number > 1 else "none"
        parts.append(
            UNIT.format(
                plan=plan, number=number, depends=depends, stamp=" ✅" if number < 3 else ""
            )
        )
    return "".join(parts)


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else DOCUMENTS
    texts = [text(plan) for plan in range(count)]
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        (root / "docs").mkdir()
        for plan, written in enumerate(texts):
            (root / "docs" / f"p{plan}-plan.md").write_text(written, encoding="utf-8")
        (root / "dos.toml").touch()
        subprocess.run(["git", "init", "--quiet", "."], cwd=root, check=True)
        workspace = find(root)
        found = len(sources.read(workspace, Config()).units)
        assert found == count * UNITS, found
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }

        def command(*words: str) -> Callable[[], object]:
            return lambda: subprocess.run(
                words, cwd=root, capture_output=True, env=environment, check=True
            )

        dos = (sys.executable, "-m", "dos")
        acts: dict[str, tuple[str, Callable[[], object]]] = {
            "split into lines": ("", lambda: [written.split("\n") for written in texts]),
            "the grammar alone": (
                "split into lines",
                lambda: [document.read(written, plan="P") for written in texts],
            ),
            "read the files": (
                "",
                lambda: [path.read_bytes() for path in sorted(root.glob("docs/**/*-plan.md"))],
            ),
            "files to units": ("read the files", lambda: sources.read(workspace, Config())),
            "python -c pass": ("", command(sys.executable, "-c", "pass")),
            "dos enumerate, one document": (
                "python -c pass",
                command(*dos, "enumerate", "docs/p0-plan.md"),
            ),
            "dos plan --once, all of them": (
                "python -c pass",
                command(*dos, "plan", "--once", "--json"),
            ),
        }
        taken: dict[str, list[float]] = {name: [] for name in acts}
        for _ in range(ROUNDS):  # interleaved, so that a slow minute slows all of them
            for name, (_, act) in acts.items():
                began = time.perf_counter()
                act()
                taken[name].append((time.perf_counter() - began) * 1000)
    rows = [
        (
            name,
            median(taken[name]),
            median(taken[name]) / median(taken[floor]) if floor else "-",
            floor,
        )
        for name, (floor, _) in acts.items()
    ]
    title = (
        f"{count:,} plan documents of {UNITS} units (aim: every unit of a workspace within a "
        f"second)"
    )
    show(title, ("what", "ms", "ratio", "of"), rows)


if __name__ == "__main__":
    main()
