"""Release leases whose process has exited.

A lease is revoked when it has expired, when the machine has restarted since it was taken, or when
the process recorded with it no longer runs on this host. A holder that is only slow keeps its
lease.
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.errors import Conflict
from dos.lanes import abandoned
from dos.lanes.io.leases import leases_with_holders
from dos.lease import Lease
from dos.text import comparison_key, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reaped": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="only this lane", metavar="LANE")] = ""
    dry_run: Annotated[bool, Option(help="say what would be freed, and free nothing")] = False


def run(args: Args, context: Context) -> Reply:
    lane = validated_name(args.lane, "lane name") if args.lane else ""
    wanted = comparison_key(context.policy.canonical_lane(lane) or lane)
    reaped: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for lease, seen in leases_with_holders(context.world.journal):
        if lease.is_lock or (wanted and comparison_key(lease.lane) != wanted):
            continue
        verdict = abandoned.judge(seen)
        row = {
            "lane": lease.lane,
            "owner": lease.holder,
            "fence": lease.fence,
            "why": verdict.reason,
        }
        if not verdict.abandoned:
            kept.append(row)
        elif args.dry_run or _revoke(context, lease, verdict.reason):
            reaped.append(row)
        else:
            kept.append(row | {"why": "its holder was at it just now"})
    freed = "would be freed" if args.dry_run else "was freed"
    return Reply(
        data={"dry_run": args.dry_run, "kept": kept, "reaped": reaped},
        plain="\n".join(f"{each['lane']!r} {freed}: {each['why']}." for each in reaped)
        or f"Nothing {freed}.",
        always_json=True,
    )


def _revoke(context: Context, lease: Lease, why: str) -> bool:
    try:
        context.journal.revoke(lease.fence, version=lease.version, reason=why)
    except Conflict:
        return False
    return True
