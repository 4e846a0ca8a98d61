"""Report what landed, with proof, and what did not.

It shows what landed, what was not delivered, what crashed or hung, which limits were met, what
waited and for how long, what was saved, what needs attention, and what it cost. Without --since it
begins at the last start of the fleet; a fleet that was restarted after a crash counts as one.
--html writes it as one HTML page without scripts or links, which can be sent to others.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from dos.backlog.waiting import FleetWaits
from dos.cli.decisions.gather import questions_and_waits
from dos.cli.moments import parse_moment
from dos.errors import BadInput
from dos.journal import fold
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.limits.state import costs
from dos.limits.state.spend import FleetSpend
from dos.machine import filesystem
from dos.questions import view
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions, urgent_first
from dos.report import summary
from dos.report.html import HEAD, render_page
from dos.report.io import snapshot
from dos.report.io.session import landing_proof, user_changes
from dos.report.session import last_start
from dos.report.session_fold import fold_session
from dos.report.summary import ReportData
from dos.text import LONGEST_PATH, quote
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply
from dos.verify.io import corroborate
from dos.witness.io import files
from dos.world import World

EXITS = {"reported": 0, "contract_error": 2}
LAST = "last"
LONGEST_POSITION = 18  # digits; no journal is longer
EXAMPLES = (
    "For example: --since last, --since 8h, --since 2026-08-01, --since 2026-08-01T22:00, or a"
    " position."
)


class Args(Struct, kw_only=True):
    """From when on to report, and whether as a page."""

    since: Annotated[
        str,
        Option(
            help="`last` start, an age (8h, 2d), a date in UTC, or a journal position",
            metavar="WHEN",
        ),
    ] = LAST
    html: Annotated[str, Option(help="write the report to this HTML file", metavar="FILE")] = ""


def run(args: Args, context: Context) -> Reply:
    """Report the session as text, as JSON, or to an HTML file.

    The file is checked before anything is gathered: verifying each landing may take a while.
    """
    world = context.journal_world
    if args.html:
        _check_replaceable(args.html)
    decisions, waits = questions_and_waits(context)
    report = _gather(world, list(_events_since(world.journal, args.since)), decisions, waits)
    data = summary.to_json(report)
    if args.html:
        _write(args.html, render_page(report))
        return Reply(
            text=f"Report written to {args.html}", data=data | {"html": args.html}, indented=True
        )
    text = _render(report, decisions, only_last=args.since == LAST)
    if report.session.since is None and world.missing_config:
        text = world.missing_config
    return Reply(text=text, data=data, indented=True)


def _gather(
    world: World, events: list[Event], decisions: Decisions, waits: FleetWaits
) -> ReportData:
    """Gather the report: fold the events and verify each landing."""
    session = fold_session(events)
    proofs = corroborate.landing_proofs(world, (entry.landing for entry in session.landed))
    return ReportData(
        workspace=world.workspace.root.name,
        session=session,
        proofs={landing.commit: landing_proof(proof) for landing, proof in proofs.items()},
        questions=view.rows(urgent_first(decisions), world.journal.now_ms(), waits),
        waiting=waits.all_waits(),
        unasked=summary.needs_person_without_question(waits.all_waits(), _questions(decisions)),
        costs=costs.costs(fold.fold(FleetSpend(), events), "unit"),
        own=user_changes(world, events),
        is_supervised=snapshot.read_holders(world.journal).has_supervisor,
    )


def _questions(decisions: Decisions) -> list[AnyQuestion]:
    """Return the open questions as `dos decisions` orders them."""
    return [entry.question for entry in urgent_first(decisions)]


def _render(report: ReportData, decisions: Decisions, *, only_last: bool) -> str:
    """Return the report as text: heading, summary, costs.

    Without any event there is nothing but the summary, which says so.
    """
    session = report.session
    lines = summary.summarize(
        session, report.proofs, _questions(decisions), report.own, report.waiting
    )
    text = summary.render(lines, summary.describe_no_result(session))
    if session.since is None:
        return text
    parts = [summary.heading(report), text, costs.render(report.costs)]
    if only_last and not session.bars:
        parts.append("No agent was started since then; `dos report --since 0` shows all sessions.")
    return "\n\n".join(parts)


def _events_since(journal: Store, since: str) -> Iterator[Event]:
    """Return the events from what --since names on; raises BadInput where it names nothing."""
    if since == LAST:
        start = last_start(journal.load_fleet())
        return journal.events(start.pos - 1 if start else 0)
    if since.isascii() and since.isdecimal():
        return _events_from_position(journal, since)
    since_ms = _parse_time(journal, since)
    return (event for event in journal.events() if event.at_ms >= since_ms)


def _parse_time(journal: Store, since: str) -> int:
    """Return the time of an age or a date in milliseconds; a date without a zone is in UTC."""
    since_ms = parse_moment(since, journal.now_ms())
    if since_ms is None:
        raise BadInput(f"--since {quote(since)} is not an age, a date or a position", hint=EXAMPLES)
    return since_ms


def _events_from_position(journal: Store, since: str) -> Iterator[Event]:
    """Return the events from this position on; raises BadInput for one after the newest event."""
    last = journal.last()
    if len(since) > LONGEST_POSITION or int(since) > last:
        raise BadInput(
            f"--since {quote(since)} is after the newest event, which has position {last}",
            hint=EXAMPLES,
        )
    return journal.events(max(0, int(since) - 1))


def _check_replaceable(name: str) -> None:
    """Raise BadInput where the file exists and is not a report: nothing else is overwritten."""
    path = Path(name)
    try:
        if not path.exists() and not path.is_symlink():
            return
    except (OSError, ValueError):
        return  # the error is reported when it is written
    content = files.read_bounded(path)
    if isinstance(content, Unknown) or not content.startswith(HEAD.encode()):
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} exists and is not a report of dos",
            hint="Choose another --html.",
        )


def _write(name: str, page: str) -> None:
    """Write the page whole or not at all; raises BadInput if that fails."""
    try:
        filesystem.write_whole(Path(name), page.encode(), follow_link=False)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a path"
        raise BadInput(
            f"{quote(name, LONGEST_PATH)} cannot be written: {reason}",
            hint="Choose another --html.",
        ) from error
