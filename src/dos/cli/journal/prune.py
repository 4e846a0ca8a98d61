"""Remove old events that later events have superseded.

Only renewals, refusals and leases without a run are removed, and none younger than a day; what a
run did is kept for ever. Removed events are first written to a file in the archive. [retention]
sets the ages.
"""

import time
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import BadInput
from dos.journal import prune
from dos.journal.prune import DAY_MS, Pruned
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"pruned": 0, "contract_error": 2, "lock-busy": 4}
LONGEST_DAYS = 36_500


class Args(Struct, kw_only=True):
    dry_run: Annotated[bool, Option(help="say what would go, and remove nothing")] = False
    older_than_days: Annotated[
        float | None,
        Option(help="the age; [retention] journal_max_age_days when not given", metavar="DAYS"),
    ] = None
    archive: Annotated[
        str, Option(help="the directory for what goes; in the state directory when not given")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    now_ms = time.time_ns() // 1_000_000
    if args.older_than_days is not None and not 0 <= args.older_than_days <= LONGEST_DAYS:
        raise BadInput(
            f"{args.older_than_days:g} days is no age",
            hint=f"Give a number from 0 to {LONGEST_DAYS}.",
        )
    policy, state = context.policy.retention, context.world.workspace.state
    most = policy.limit("journal_max_entries")
    nothing = context.world.journal.last() == 0  # then none is made for it either
    store = context.world.journal if args.dry_run or nothing else context.journal
    pruned = prune.prune(
        store,
        older_than_ms=_age_ms(args, policy.limit("journal_max_age_days"), now_ms),
        max_entries=None if most is None or args.older_than_days is not None else int(most),
        archive=Path(args.archive) if args.archive else state / "archive",
        dry_run=args.dry_run,
        now_ms=now_ms,
    )
    would = "would remove" if args.dry_run else "removed"
    text = f"{would} {pruned.removed} of {plural(pruned.examined, 'old event')}"
    return Reply(
        text=text + (f", kept in {pruned.archived_to}" if pruned.archived_to else ""),
        data=_data(pruned),
    )


def _age_ms(args: Args, configured: float | None, now_ms: int) -> int:
    days = configured if args.older_than_days is None else args.older_than_days
    return now_ms if days is None else int(days * DAY_MS)  # without a limit nothing is ever old


def _data(pruned: Pruned) -> dict[str, Any]:
    return {
        "examined": pruned.examined,
        "removed": pruned.removed,
        "kept": pruned.kept,
        "archived_to": pruned.archived_to,
    }
