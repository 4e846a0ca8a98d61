"""Show what landed units cost, and what bought nothing.

An unknown cost is shown as unknown, never as 0. Costs by lane and by day are kept for 35 days; with
--since only what was spent after that time counts.
"""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.journal import fold
from dos.journal.store import Store
from dos.limits.state import costs as view
from dos.limits.state.spend import Spend
from dos.text import quote
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    by: Annotated[
        str, Option(help="what each line is", choices=("unit", "lane", "day", "agent"))
    ] = "unit"
    since: Annotated[
        str, Option(help="only what was spent since then, in UTC: 2026-08-01", metavar="DATE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    journal = context.journal_world.journal
    since_ms = _moment(args.since) if args.since else None
    told = view.costs(
        _spend(journal, since_ms), args.by, None if since_ms is None else utc_stamp(since_ms)
    )
    return Reply(text=view.render(told), data=to_builtins(told), indented=True)


def _spend(journal: Store, since_ms: int | None) -> Spend:
    if since_ms is None:
        return fold.current(journal, Spend)[0]
    return fold.fold(Spend(), (event for event in journal.events() if event.at_ms >= since_ms))


def _moment(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"--since {quote(text)} is no date", hint="For example: --since 2026-08-01."
        ) from None
    return int(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
