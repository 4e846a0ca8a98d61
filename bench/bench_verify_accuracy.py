"""How often `dos verify` believes a lie or denies honest work, by family of tests/verify/families.

`--dos COMMAND` asks another dos than the one that is installed beside this Python, for example
`--dos "/old/.venv/bin/dos"`; PYTHONPATH does the same for a checkout without an environment.
`--wrong` also lists each wrong answer.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from table import show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verify"))
from families import branches
from families.catalog import FAMILIES
from families.variant import Error, Variant

Answer = tuple[int, list[str]]  # the exit code, and the contradictions and notes


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--dos", default=f"{shlex.quote(sys.executable)} -m dos", metavar="COMMAND")
    words.add_argument("--wrong", action="store_true", help="list each wrong answer")
    given = words.parse_args()
    variants = [variant for family in FAMILIES for variant in family.variants]
    with tempfile.TemporaryDirectory() as home:
        answers = ask(Path(home), shlex.split(given.dos), variants)
    rows, wrong = score(answers)
    show(
        "Wrong answers of dos verify",
        ("family", "kind", "asked", *(e.name.lower() for e in Error)),
        rows,
    )
    if given.wrong:
        print("\n" + "\n".join(wrong))


def ask(home: Path, dos: Sequence[str], variants: Sequence[Variant]) -> list[Answer]:
    """The answer about each variant at the end of its branch, as a process gives it."""
    refs = branches.write(home / "work", variants)
    environment = {**os.environ, "XDG_CACHE_HOME": str(home), "XDG_STATE_HOME": str(home)}

    def answer(ref: str, variant: Variant) -> Answer:
        done = subprocess.run(
            [*dos, "verify", variant.plan, variant.unit, "--ref", ref, "--no-index", "--json"],
            cwd=home / "work",
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode in {0, 1, 3, 4, 5}, (variant.name, done.stderr)
        verdict = json.loads(done.stdout)
        note = [verdict["imported_nowhere"]] if "imported_nowhere" in verdict else []
        return done.returncode, verdict["contradictions"] + note

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(answer, refs, variants))


def score(answers: Sequence[Answer]) -> tuple[list[tuple[object, ...]], list[str]]:
    """A row of each family, of each kind and of all: how many were asked, and how many answers
    were wrong in which way; and each wrong answer in words."""
    asked: Counter[tuple[str, str]] = Counter()
    errors: Counter[tuple[str, str, Error]] = Counter()
    wrong, left = [], iter(answers)
    for family in FAMILIES:
        kind = family.kind.value
        rows = [(family.name, kind), (f"all of kind {kind}", kind), ("all", "")]
        for variant in family.variants:
            asked.update(rows)
            if error := family.error(*next(left)):
                errors.update((*row, error) for row in rows)
                wrong.append(
                    f"{family.name}: {variant.name!r}: {error.value} {variant.why}".strip()
                )
    names = sorted(asked, key=lambda row: row[0].startswith("all") + (row[0] == "all"))
    return [(*row, asked[row], *(errors[*row, error] for error in Error)) for row in names], wrong


if __name__ == "__main__":
    main()
