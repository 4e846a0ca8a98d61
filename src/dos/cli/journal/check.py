"""Check the journal for damage and contradictions.

Every event is read: checksums, versions, fences, leases that overlapped, and whether the lease
table agrees with the events. Nothing is changed.
"""

import os
import sys
from typing import Any

from msgspec import Struct, to_builtins

from dos.errors import JournalCorrupt
from dos.journal import check
from dos.journal.check import Problem, Report
from dos.text import plural
from dos.verbs.context import Context, Reply

EXITS = {"sound": 0, "problems": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    pass


def run(args: Args, context: Context) -> Reply:
    looked_at = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    try:
        journal = context.journal_world.journal
        report = check.check(journal, progress=_progress if looked_at else None)
    except JournalCorrupt as error:  # so damaged that it cannot even be opened
        report = Report(
            events=0, streams=0, leases=0, unknown_kinds={}, problems=[Problem(0, str(error))]
        )
    if looked_at:
        sys.stderr.write("\r\x1b[K")
    return Reply(
        code=1 if report.problems else 0,
        text="\n".join(_told(report)),
        data=_data(report),
        indented=True,
        next_action="Keep a copy of the state directory before anything else."
        if report.problems
        else "",
    )


def _told(report: Report) -> list[str]:
    seen = f"{plural(report.events, 'event')}, {plural(report.streams, 'stream')}, {plural(report.leases, 'lease')}"
    told = [f"problem: {problem.what}" for problem in report.problems]
    told += [
        f"note: {plural(count, 'event')} of the unknown kind {kind!r}"
        for kind, count in report.unknown_kinds.items()
    ]
    return [
        *told,
        f"{plural(len(report.problems), 'problem')} in {seen}"
        if report.problems
        else f"sound: {seen}",
    ]


def _data(report: Report) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(report)
    return data | {"sound": not report.problems}


def _progress(walked: int, total: int) -> None:
    sys.stderr.write(f"\r{walked} of {total} events")
    sys.stderr.flush()
