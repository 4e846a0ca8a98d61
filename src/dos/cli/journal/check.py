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
from dos.journal.check import CheckReport, Problem
from dos.text import plural
from dos.verbs.context import Context, Reply

EXITS = {"sound": 0, "problems": 1, "contract_error": 2}
ERASE_LINE = "\r\x1b[K"


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, context: Context) -> Reply:
    """Walk the whole journal and return what is wrong with it; nothing is repaired."""
    on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    progress = _print_progress if on_terminal else None
    try:
        report = check.check(context.journal_world.journal, progress=progress)
    except JournalCorrupt as error:  # too damaged to be opened
        report = CheckReport(
            events=0, streams=0, leases=0, unknown_kinds={}, problems=[Problem(0, str(error))]
        )
    if on_terminal:
        sys.stderr.write(ERASE_LINE)
    text = "\n".join(_lines(report))
    if not report.problems:
        return Reply(text=text, data=_data(report), indented=True)
    return Reply(
        code=1,
        text=text,
        data=_data(report),
        indented=True,
        next_action="Copy the state directory before you do anything else.",
    )


def _lines(report: CheckReport) -> list[str]:
    lines = [f"problem: {problem.what}" for problem in report.problems]
    for kind, count in report.unknown_kinds.items():
        lines.append(f"note: {plural(count, 'event')} of the unknown kind {kind!r}")
    events = plural(report.events, "event")
    streams = plural(report.streams, "stream")
    leases = plural(report.leases, "lease")
    checked = f"{events}, {streams}, {leases}"
    if report.problems:
        lines.append(f"{plural(len(report.problems), 'problem')} in {checked}")
    else:
        lines.append(f"sound: {checked}")
    return lines


def _data(report: CheckReport) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(report)
    return data | {"sound": not report.problems}


def _print_progress(walked: int, total: int) -> None:
    sys.stderr.write(f"\r{walked} of {total} events")
    sys.stderr.flush()
