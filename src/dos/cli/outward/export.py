"""Ship verdicts to a file, statsd or OpenTelemetry.

A batch is shipped first and recorded then, so after a crash it is shipped again: nothing is lost,
and something may arrive twice. With --since auto it continues where the same transport was.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.journal.events.envelope import Event
from dos.outward.export import Shipped
from dos.outward.io import cursor
from dos.outward.io.exporters import NULL, Exporter, Options, open_exporter
from dos.outward.verdicts import Damaged, VerdictRecord, read_verdicts
from dos.text import plural, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"exported": 0, "not-shipped": 1, "contract_error": 2, "lock-busy": 4}
AUTO = "auto"
LONGEST_POSITION = 18  # digits; no journal is longer
BATCH = 1000
SHORTEST_INTERVAL = 0.1
LONGEST_INTERVAL = 3600.0


class Args(Struct, kw_only=True):
    """Which verdicts to ship, and where."""

    to: Annotated[str, Option(help="null, file, statsd, otlp or a plugin", metavar="NAME")] = NULL
    path: Annotated[str, Option(help="file: append to it ($DOS_EXPORT_FILE)", metavar="FILE")] = ""
    host: Annotated[str, Option(help="statsd: host ($DOS_STATSD_HOST)", metavar="HOST")] = ""
    port: Annotated[
        int | None, Option(help="statsd: port ($DOS_STATSD_PORT, 8125)", metavar="PORT")
    ] = None
    endpoint: Annotated[
        str, Option(help="otlp: URL ($DOS_OTLP_ENDPOINT, localhost:4318)", metavar="URL")
    ] = ""
    since: Annotated[
        str, Option(help="only events after this position; auto: continue", metavar="N|auto")
    ] = ""
    tail: Annotated[int | None, Option(help="only the newest N verdicts", metavar="N")] = None
    follow: Annotated[bool, Option(help="keep shipping until Ctrl-C, and continue later")] = False
    follow_interval: Annotated[float, Option(help="with --follow: pause", metavar="SECONDS")] = 2.0
    follow_max: Annotated[
        int, Option(help="with --follow: stop after N looks; 0: never", metavar="N")
    ] = 0
    dry_run: Annotated[bool, Option(help="show what would be shipped, ship nothing")] = False


class Round(Struct, frozen=True, kw_only=True):
    """What one look at the journal shipped."""

    pending: int
    shipped: int
    detail: str
    position: int  # up to which everything was shipped
    failed: bool = False


class Shipment:
    """One call: reads pending verdicts, ships them, and records how far it is."""

    def __init__(self, args: Args, context: Context, exporter: Exporter) -> None:
        self._args = args
        self._context = context
        self._exporter = exporter
        automatic = args.since == AUTO or (args.follow and not args.since)
        self.persists = (automatic or args.follow) and args.to != NULL and not args.dry_run
        self.position = _position(args.since)
        if automatic:
            self.position = cursor.read_cursor(context.journal_world.journal, args.to)

    def ship_pending(self) -> Round:
        """Ship every pending verdict, a batch at a time, until one fails."""
        pending = self._pending()
        shipped = count = 0
        details = []
        failed = False
        while batch := list(islice(pending, BATCH)):
            count += len(batch)
            if self._args.dry_run:
                details = [f"dry run: {plural(count, 'event')} would be shipped"]
                continue
            answer = self._exporter.export(batch)
            details.append(answer.detail)
            if answer.exported:
                self._advance(batch[answer.exported - 1].seq)
                shipped += answer.exported
            if answer.exported < len(batch):
                failed = True
                count += sum(1 for _ in pending)
        detail = "; ".join(dict.fromkeys(filter(None, details))) or "nothing is pending"
        return Round(
            pending=count, shipped=shipped, detail=detail, position=self.position, failed=failed
        )

    def _pending(self) -> Iterator[VerdictRecord]:
        """Yield the verdicts that were not shipped; --tail leaves the newest of all."""
        journal = self._context.journal_world.journal
        if self._args.tail is None:
            return _records(journal.events(self.position), self.position)
        newest = deque(_records(journal.events(), 0), maxlen=self._args.tail)
        return (record for record in newest if record.seq > self.position)

    def _advance(self, position: int) -> None:
        """Record the position. A kill before this ships the batch again."""
        self.position = position
        if self.persists:
            cursor.record_cursor(self._context.journal, self._args.to, position)


def run(args: Args, context: Context) -> Reply:
    """Ship what is pending. It exits 1 if something is pending and nothing of it was shipped."""
    _check(args)
    options = Options(
        root=context.journal_world.workspace.root,
        path=args.path,
        host=args.host,
        port=args.port,
        endpoint=args.endpoint,
    )
    shipment = Shipment(args, context, open_exporter(args.to, options))
    if args.follow:
        return _follow(args, context, shipment)
    return _reply(args, shipment, shipment.ship_pending())


def _follow(args: Args, context: Context, shipment: Shipment) -> Reply:
    """Look again and again until Ctrl-C, and print each look that found something."""
    looks = 0
    pending = shipped = 0
    with suppress(KeyboardInterrupt):
        while True:
            looks += 1
            found = shipment.ship_pending()
            pending += found.pending
            shipped += found.shipped
            if found.pending:
                for line in _lines(args, shipment, found):
                    context.print_line(line)
            if looks == args.follow_max:
                break
            time.sleep(args.follow_interval)
            context.reload()  # a journal may exist by now
    if pending and not shipped and not args.dry_run:
        return Reply(code=EXITS["not-shipped"])
    return Reply()


def _reply(args: Args, shipment: Shipment, found: Round) -> Reply:
    code = EXITS["exported"]
    if found.pending and not found.shipped and not args.dry_run:
        code = EXITS["not-shipped"]
    result = Shipped(exported=found.shipped, detail=found.detail, cursor=found.position)
    data = {
        "result": to_builtins(result),
        "exporter": args.to,
        "shipped": found.shipped,
        "since": args.since,
        "persist": shipment.persists,
    }
    text = "\n".join(_lines(args, shipment, found))
    return Reply(code=code, text=text, data=data, indented=True)


def _lines(args: Args, shipment: Shipment, found: Round) -> list[str]:
    kept = "persisted" if shipment.persists and found.shipped else "not persisted"
    return [
        f"# export · {found.pending} event(s) pending · transport={args.to}",
        f"  → shipped {found.shipped}/{found.pending} via {args.to}: {found.detail}",
        f"  cursor: {found.position}  ({kept})",
    ]


def _records(events: Iterator[Event], after: int) -> Iterator[VerdictRecord]:
    """Yield the verdicts above a position; a damaged one is for `dos observe` to tell."""
    for record in read_verdicts(events):
        if not isinstance(record, Damaged) and record.seq > after:
            yield record


def _position(since: str) -> int:
    """Return the position that --since names; 0 for none."""
    if since in ("", AUTO):
        return 0
    if not (since.isascii() and since.isdecimal()) or len(since) > LONGEST_POSITION:
        raise BadInput(
            f"--since {quote(since)} is not a position of the journal",
            hint="For example: --since auto, or --since 0 for everything.",
        )
    return int(since)


def _check(args: Args) -> None:
    """Raise BadInput for numbers that make no sense."""
    if args.tail is not None and args.tail < 1:
        raise BadInput("--tail is less than 1", hint="For example: --tail 20")
    if args.follow_max < 0:
        raise BadInput("--follow-max is below 0", hint="Leave it out to follow until Ctrl-C.")
    if not SHORTEST_INTERVAL <= args.follow_interval <= LONGEST_INTERVAL:
        raise BadInput(
            f"--follow-interval is not from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL:g} seconds",
            hint="For example: --follow-interval 2",
        )
