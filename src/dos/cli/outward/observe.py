"""Show the verdicts of verbs, hooks and workers on record.

Without --run and --tail it counts them; with one of them it lists them, oldest first. Verdicts are
recorded wherever there is a journal; $DISPATCH_OBSERVE is ignored.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.outward import rollup
from dos.outward.rollup import DIMENSIONS, Rollup
from dos.outward.verdicts import Damaged, VerdictRecord, read_verdicts
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "corrupt": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which verdicts, and whether to count or to list them."""

    run: Annotated[str, Option(help="list the verdicts of this run", metavar="RID")] = ""
    syscall: Annotated[
        str, Option(help="only verdicts of this verb or hook, such as verify", metavar="NAME")
    ] = ""
    by: Annotated[str, Option(help=f"count by {', '.join(DIMENSIONS)}", choices=DIMENSIONS)] = (
        "syscall"
    )
    tail: Annotated[int | None, Option(help="list the newest N verdicts", metavar="N")] = None


class Selection:
    """The verdicts that the arguments ask for, and how many events are damaged."""

    def __init__(self, args: Args) -> None:
        self._run = args.run
        self._syscall = syscall_name(args.syscall)
        self.corrupt = 0

    def select(self, found: Iterable[VerdictRecord | Damaged]) -> Iterator[VerdictRecord]:
        """Yield the verdicts that were asked for, and count damaged events."""
        for record in found:
            if isinstance(record, Damaged):
                self.corrupt += 1
            elif self._run in ("", record.run_id) and self._syscall in ("", record.syscall):
                yield record


def run(args: Args, context: Context) -> Reply:
    """Count or list the verdicts; it exits 1 if the journal has one that cannot be read."""
    if args.tail is not None and args.tail < 1:
        raise BadInput("--tail is less than 1", hint="For example: --tail 20")
    selection = Selection(args)
    found = selection.select(read_verdicts(context.journal_world.journal.events()))
    records: list[VerdictRecord] = []
    is_history = bool(args.run) or args.tail is not None
    if is_history:
        records = list(deque(found, maxlen=args.tail))
        found = iter(records)
    counts = rollup.roll_up(found, by=args.by, corrupt=0)
    counts = Rollup(
        by=counts.by,
        total=counts.total,
        corrupt=selection.corrupt,
        dimensions=counts.dimensions,
        counts=counts.counts,
    )
    text = _history(records) if is_history else _table(counts)
    if selection.corrupt:
        text += f"\n{plural(selection.corrupt, 'event')} cannot be read; see `dos journal check`"
    data = {
        "run": args.run,
        "syscall_filter": args.syscall,
        "corrupt": selection.corrupt,
        "rollup": to_builtins(counts),
        "events": to_builtins(records),
    }
    return Reply(code=int(selection.corrupt > 0), text=text, data=data, indented=True)


def syscall_name(verb: str) -> str:
    """Return a verb's name as records have it: `commit_audit` for `commit-audit`."""
    return verb.strip().replace("-", "_").replace(" ", "_")


def _history(records: list[VerdictRecord]) -> str:
    if not records:
        return "no verdicts on record"
    return "\n".join(map(describe, records))


def describe(record: VerdictRecord) -> str:
    """Return a verdict as one line: when, who judged, what of what, and why."""
    subject = record.subject or "-"
    reason = record.detail.get("reason", "")
    line = f"{record.ts}  {record.syscall:<18} {record.verdict:<16} {subject}"
    if record.lane:
        line += f"  lane {record.lane}"
    if reason:
        line += f"  {' '.join(str(reason).split())}"
    return line


def _table(counts: Rollup) -> str:
    if not counts.total:
        return "no verdicts on record"
    lines = [f"{plural(counts.total, 'verdict')} by {counts.by}"]
    width = max(len(name) for name in counts.dimensions)
    for name in counts.dimensions:
        cells = [f"{verdict} {number}" for verdict, number in counts.counts[name].items()]
        lines.append(f"  {name or '-':<{width}}  {', '.join(cells)}")
    return "\n".join(lines)
