"""Remove old events that later events have superseded.

Only renewals, refusals, results of checks, leases without a run, and many verdicts and hook events
are removed, and none younger than a day; what a run did is kept for ever. Removed events are first
written to a file in the archive. [retention] sets the ages and numbers.
"""

import time
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from dos.errors import BadInput
from dos.journal import prune
from dos.journal.prune import DAY_MS, PruneResult, Records
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"pruned": 0, "contract_error": 2, "lock-busy": 4}
LONGEST_DAYS = 36_500


class Args(Struct, kw_only=True):
    """Which events to remove, and where to keep them."""

    dry_run: Annotated[bool, Option(help="show what would be removed, remove nothing")] = False
    older_than_days: Annotated[
        float | None,
        Option(help="minimum age (default: [retention] journal_max_age_days)", metavar="DAYS"),
    ] = None
    archive: Annotated[
        str, Option(help="directory for removed events (default: in the state directory)")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    now_ms = time.time_ns() // 1_000_000
    if args.older_than_days is not None and not 0 <= args.older_than_days <= LONGEST_DAYS:
        raise BadInput(
            f"--older-than-days {args.older_than_days:g} is not between 0 and {LONGEST_DAYS}",
            hint="For example: --older-than-days 30",
        )
    policy = context.policy.retention
    archive = context.world.workspace.state / "archive"
    if args.archive:
        archive = Path(args.archive)
    most_entries: int | None = None
    if args.older_than_days is None:
        most_entries = _whole(policy.limit("journal_max_entries"))
    store = context.world.journal
    if not args.dry_run and store.last() > 0:
        store = context.journal  # opened for writing; an empty journal is not created for this
    pruned = prune.prune(
        store,
        older_than_ms=_age_ms(args, policy.limit("journal_max_age_days"), now_ms),
        max_entries=most_entries,
        archive=archive,
        dry_run=args.dry_run,
        records=Records(
            verdicts=_whole(policy.limit("verdicts_keep_last")),
            hook_events=_whole(policy.limit("hook_events_keep")),
        ),
        now_ms=now_ms,
    )
    verb = "would remove" if args.dry_run else "removed"
    text = f"{verb} {pruned.removed} of {plural(pruned.examined, 'old event')}"
    if pruned.archived_to:
        text += f", kept in {pruned.archived_to}"
    return Reply(text=text, data=_data(pruned))


def _whole(limit: float | None) -> int | None:
    """Return a limit as a whole number; None: no limit."""
    return None if limit is None else int(limit)


def _age_ms(args: Args, configured_days: float | None, now_ms: int) -> int:
    """Return the minimum age. Without a limit it is the time since 1970: no event is that old."""
    days = args.older_than_days
    if days is None:
        days = configured_days
    if days is None:
        return now_ms
    return int(days * DAY_MS)


def _data(pruned: PruneResult) -> dict[str, Any]:
    return {
        "examined": pruned.examined,
        "removed": pruned.removed,
        "kept": pruned.kept,
        "archived_to": pruned.archived_to,
    }
