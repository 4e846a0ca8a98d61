"""Show the cost of landed units and of work not landed.

For each unit, lane, day or agent it shows the units that landed, the cost with the share that went
into work that did not land and replans, the tokens, and how long agents worked, waited and were
idle. An unknown cost is shown as unknown, never as 0. Costs by lane and by day are kept for 35
days; with --since only what was spent after that time counts.
"""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.journal import fold
from dos.journal.store import Store
from dos.limits.state import costs
from dos.limits.state.spend import FleetSpend
from dos.text import quote
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """How to group the costs, and from when on."""

    by: Annotated[str, Option(help="group by", choices=("unit", "lane", "day", "agent"))] = "unit"
    since: Annotated[
        str, Option(help="only what was spent since this UTC date: 2026-08-01", metavar="DATE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Show the costs of all time, or with --since of the events from then on.

    All time is a folded state that is kept up to date; with --since every event is read again.
    """
    journal = context.journal_world.journal
    if args.since:
        since_ms = _epoch_ms(args.since)
        spend = _spend_since(journal, since_ms)
        table = costs.costs(spend, args.by, utc_stamp(since_ms))
    else:
        spend, _ = fold.current(journal, FleetSpend)
        table = costs.costs(spend, args.by, None)
    return Reply(text=costs.render(table), data=to_builtins(table), indented=True)


def _spend_since(journal: Store, since_ms: int) -> FleetSpend:
    """Return what was spent by the events from this time on."""
    return fold.fold(FleetSpend(), (event for event in journal.events() if event.at_ms >= since_ms))


def _epoch_ms(text: str) -> int:
    """Return the time of a date in milliseconds, in UTC where it has no zone; raises BadInput."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"--since {quote(text)} is not a date", hint="For example: --since 2026-08-01"
        ) from None
    return int(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
