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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from table import show

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verify"))
from families import branches
from families.catalog import FAMILIES
from families.variant import Kind, Variant

Answer = tuple[int, list[str]]  # the exit code and the contradictions


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--dos", default=f"{shlex.quote(sys.executable)} -m dos", metavar="COMMAND")
    words.add_argument("--wrong", action="store_true", help="list each wrong answer")
    given = words.parse_args()
    variants = [variant for family in FAMILIES for variant in family.variants]
    with tempfile.TemporaryDirectory() as home:
        answers = ask(Path(home), shlex.split(given.dos), variants)
    rows, wrong = score(answers)
    show(f"{len(variants)} questions", ("family", "asked", "believed", "denied", "untold"), rows)
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
        assert done.returncode in range(6) and done.returncode != 2, (variant.name, done.stderr)
        return done.returncode, json.loads(done.stdout)["contradictions"]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(answer, refs, variants))


def score(answers: Sequence[Answer]) -> tuple[list[tuple[object, ...]], list[str]]:
    """A row of each family and of them all: asked, lies believed, honest work denied, and answers
    that say too little or too much against work that ships; and each wrong answer in words."""
    rows, wrong, left = [], [], iter(answers)
    for family in FAMILIES:
        errors = []
        for variant in family.variants:
            if error := family.error(*next(left)):
                errors.append(error)
                wrong.append(f"{family.name}: {variant.name!r}: {error}")
        believed = len(errors) if family.kind is Kind.LIE else 0
        denied = len(errors) if family.kind is Kind.HONEST else 0
        told = len(errors) - believed - denied
        rows.append((family.name, len(family.variants), believed, denied, told))
    totals = [sum(column) for column in list(zip(*rows, strict=True))[1:]]
    return [*rows, ("all", *totals)], wrong


if __name__ == "__main__":
    main()
