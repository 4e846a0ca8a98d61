"""Report what landed, with proof, and what did not.

It tells what landed, what was claimed and not believed, what crashed and what came of it, what waited and for how
long, what was saved, what waits for a person, and what it cost. Without --since it begins where the fleet was last
started; one that was killed and started again is the same fleet. --html writes it as one page that can be given away.
"""

import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.fleet.io.reader import FleetReader
from dos.journal import fold
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.limits.state import costs
from dos.limits.state.spend import Spend
from dos.questions import view
from dos.questions.state import Decisions, urgent_first
from dos.report import html as report_page
from dos.report import summary
from dos.report.html import ReportData
from dos.report.io import session
from dos.report.io.session import landing_proof
from dos.report.session_fold import fold_session, last_start
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verify.io import corroborate
from dos.witness.io import writable
from dos.world import World

EXITS = {"reported": 0, "contract_error": 2}
LAST = "last"
LONGEST_POSITION = 18  # digits; no journal is longer
EXAMPLES = "For example: --since last, --since 8h, --since 2026-08-01, --since 2026-08-01T22:00, or a position."
UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
AGO = re.compile(r"([0-9]{1,6})([mhd])")


class Args(Struct, kw_only=True):
    since: Annotated[
        str,
        Option(
            help="`last`: the last start; a time ago, as 8h or 2d; a date, in UTC; or a position of the journal",
            metavar="WHEN",
        ),
    ] = LAST
    html: Annotated[str, Option(help="write it as a page into this file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    world = context.journal_world
    if args.html:
        _check_replaceable(args.html)
    asked = fold.current(world.journal, Decisions)[0]
    sheet = _sheet(world, list(_since(world.journal, args.since)), asked)
    data = report_page.to_json(sheet)
    if args.html:
        _write(args.html, report_page.render_page(sheet))
        return Reply(
            text=f"the report is in {args.html}", data=data | {"html": args.html}, indented=True
        )
    return Reply(text=_text(sheet, asked, only_last=args.since == LAST), data=data, indented=True)


def _sheet(world: World, happened: list[Event], asked: Decisions) -> ReportData:
    told = fold_session(happened)
    found, waits = (
        corroborate.landing_proofs(world, (each.landing for each in told.landed)),
        FleetReader(world).waits(),
    )
    return ReportData(
        workspace=world.workspace.root.name,
        session=told,
        proofs={each.commit: landing_proof(proof) for each, proof in found.items()},
        questions=view.rows(urgent_first(asked), world.journal.now_ms(), waits),
        waiting=waits.all_waits(),
        costs=costs.costs(fold.fold(Spend(), happened), "unit"),
        own=session.user_changes(world, happened),
    )


def _text(sheet: ReportData, asked: Decisions, *, only_last: bool) -> str:
    questions = [each.question for each in urgent_first(asked)]
    told = summary.render(
        summary.summarize(sheet.session, sheet.proofs, questions, sheet.own, sheet.waiting)
    )
    if sheet.session.since is None:
        return told
    parts = [report_page.heading(sheet), told, costs.render(sheet.costs)]
    if only_last and not sheet.session.bars:
        parts.append(
            "No agent was started since then; `dos report --since 0` tells what was before."
        )
    return "\n\n".join(parts) + (
        f"\n{report_page.unknown_cost_note(sheet.session)}" if sheet.session.lost else ""
    )


def _since(journal: Store, since: str) -> Iterator[Event]:
    if since == LAST:
        began = last_start(journal.load_fleet())
        return journal.events(began.pos - 1 if began else 0)
    if since.isascii() and since.isdecimal():
        return _from_position(journal, since)
    if ago := AGO.fullmatch(since):
        since_ms = journal.now_ms() - int(ago[1]) * UNITS_MS[ago[2]]
        return (event for event in journal.events() if event.at_ms >= since_ms)
    try:
        at = datetime.fromisoformat(since)
        since_ms = int(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadInput(
            f"--since {quote(since)} is no date and no position", hint=EXAMPLES
        ) from None
    return (event for event in journal.events() if event.at_ms >= since_ms)


def _from_position(journal: Store, since: str) -> Iterator[Event]:
    last = journal.last()
    if len(since) > LONGEST_POSITION or int(since) > last:
        raise BadInput(
            f"--since {quote(since)} is after the newest event, which has position {last}",
            hint=EXAMPLES,
        )
    return journal.events(max(0, int(since) - 1))


def _check_replaceable(name: str) -> None:
    """Only another report is written over: not a device, and not whatever else is there."""
    path = Path(name)
    try:
        there = path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return  # what is wrong with it is said when it is written
    old = writable.read_bounded(path) if there else b""
    if there and (isinstance(old, Unknown) or not old.startswith(report_page.HEAD.encode())):
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} is there, and is no report of ours",
            hint="Name another --html.",
        )


def _write(name: str, page: str) -> None:
    """Whole or not at all."""
    try:
        path = Path(name)
        half = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            half.write_text(page, encoding="utf-8", newline="\n")
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} cannot be written: {why}", hint="Name another --html."
        ) from error
