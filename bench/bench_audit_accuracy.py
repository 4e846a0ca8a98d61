"""How often the audit of commits is right: its answers for labelled commits beside the labels.

    bench_audit_accuracy.py [--verbose] [RECORDS.jsonl]

Without a file it measures the labelled commits of our own tests. A line of a file is a JSON object
with `id`, `subject`, `body`, `files` (each with `path`, whole text `old` and `new` or null,
`mode_old` and `mode_new`, and `old_base64` or `new_base64` true where the text is encoded),
`label` (with `claim` and `tests`), `why`, and `reverts` (`sha`, `subject`, `files`) where the body
says that the commit reverts another.
"""

import argparse
import base64
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from msgspec import json

from table import show

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "audit"))

from labelled.tables import COMMITS
from labelled_commit import REVERTED
from labelled_repository import (
    CLAIMS,
    TESTS,
    FileSides,
    Record,
    Score,
    record_of,
    score,
    verdicts,
    write,
)

from dos.audit.audit import Verdict


def read_records(path: Path) -> list[Record]:
    """Read labelled commits from a file of JSON lines."""
    lines = path.read_bytes().splitlines()
    return [_record(json.decode(line)) for line in lines if line.strip()]


def _record(told: dict[str, Any]) -> Record:
    body, reverts = told.get("body") or "", None
    if told.get("reverts"):
        reverted = told["reverts"]
        body = body.replace(reverted["sha"], REVERTED)
        reverts = Record(
            name=reverted["sha"],
            subject=reverted["subject"],
            body="",
            files=tuple(map(_sides, reverted["files"])),
        )
    return Record(
        name=told["id"],
        subject=told["subject"],
        body=body,
        files=tuple(map(_sides, told["files"])),
        claim=told["label"]["claim"],
        tests=told["label"]["tests"],
        why=told.get("why", ""),
        reverts=reverts,
    )


def _sides(told: dict[str, Any]) -> FileSides:
    return FileSides(
        path=told["path"],
        old=_content(told, "old"),
        new=_content(told, "new"),
        old_mode=told.get("mode_old") or "100644",
        new_mode=told.get("mode_new") or "100644",
    )


def _content(told: dict[str, Any], side: str) -> bytes | None:
    text = told.get(side)
    if text is None:
        return None
    return base64.b64decode(text) if told.get(f"{side}_base64") else text.encode()


def listed(root: Path) -> None:
    """Let git alone list the changes of the same commits."""
    words = ("git", "log", "-z", "--raw", "--numstat", "--no-renames", "--format=%H%x00%B")
    subprocess.run((*words, "bases..changes"), cwd=root, stdout=subprocess.DEVNULL, check=True)


def show_details(measured: Score, records: list[Record], found: dict[str, Verdict]) -> None:
    """Print each wrong and each missed answer with the label's reason and the audit's."""
    by_name = {record.name: record for record in records}
    for kind, names in (("wrong", measured.wrong), ("missed", measured.missed)):
        for name in names:
            record, verdict = by_name[name], found[name]
            print(f"\n{kind} ({measured.question}): {name}: {record.subject}")
            print(f"  labelled {record.claim}, {record.tests}: {record.why}")
            print(f"  audited  {verdict.verdict} ({verdict.claim_kind}): {verdict.reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the accuracy of dos commit-audit.")
    parser.add_argument("records", nargs="?", type=Path, help="labelled commits, as JSON lines")
    parser.add_argument("--verbose", action="store_true", help="list wrong and missed answers")
    given = parser.parse_args()
    records = read_records(given.records) if given.records else list(map(record_of, COMMITS))
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        names = write(records, root)
        began = time.perf_counter()
        listed(root)
        git_done = time.perf_counter()
        found = verdicts(root, names)
        ended = time.perf_counter()
    rows = []
    for question in (CLAIMS, TESTS):
        measured = score(question, records, found)
        right, wrong = len(measured.right), len(measured.wrong)
        shares = (measured.precision, measured.recall, measured.f1)
        rows.append((question, right + wrong, right, wrong, len(measured.missed), *shares))
        if given.verbose:
            show_details(measured, records, found)
    header = ("question", "flagged", "right", "wrong", "missed", "precision", "recall", "F1")
    show(f"{len(records)} labelled commits", header, rows)
    floor, taken = git_done - began, ended - git_done
    times = [
        ("git log --raw --numstat", floor / len(records) * 1000, 1.0),
        ("audit", taken / len(records) * 1000, taken / floor),
    ]
    show("time", ("what", "ms a commit", "ratio"), times)


if __name__ == "__main__":
    main()
