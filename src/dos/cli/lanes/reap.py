"""Release leases whose process has exited.

A lease is revoked when it has expired, when the machine has restarted since it was taken, or when
the process recorded with it no longer runs on this host. A holder that is only slow keeps its
lease.
"""

from typing import Annotated, Any

from msgspec import Struct

from dos.cli.lanes.caller import optional_name
from dos.errors import Conflict
from dos.lanes import leases
from dos.lanes.io.leases import leases_with_holders
from dos.lease import Lease
from dos.text import comparison_key
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reaped": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """Which leases to look at."""

    lane: Annotated[str, Option(help="only this lane", metavar="LANE")] = ""
    dry_run: Annotated[bool, Option(help="show what would be released, release nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Revoke every lease whose holder is gone, and reply with why each was revoked or kept."""
    lane = optional_name(args.lane, "lane name")
    lane_key = comparison_key(context.policy.canonical_lane(lane) or lane)
    reaped: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for lease, evidence in leases_with_holders(context.world.journal):
        if lease.is_lock or (lane_key and comparison_key(lease.lane) != lane_key):
            continue
        verdict = leases.judge_holder(evidence)
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
            kept.append(row | {"why": "its holder renewed or released it just now"})
    return Reply(
        data={"dry_run": args.dry_run, "kept": kept, "reaped": reaped},
        plain=_sentences(reaped, dry_run=args.dry_run),
        always_json=True,
    )


def _sentences(reaped: list[dict[str, Any]], *, dry_run: bool) -> str:
    """Return one sentence for each revoked lease, which `--output plain` prints."""
    verb = "would be released" if dry_run else "was released"
    if not reaped:
        return f"Nothing {verb}."
    return "\n".join(f"{row['lane']!r} {verb}: {row['why']}." for row in reaped)


def _revoke(context: Context, lease: Lease, why: str) -> bool:
    """Revoke the lease; False if its holder changed it since it was read.

    The version of the lease makes sure that a renewal in between is not lost.
    """
    try:
        context.journal.revoke(lease.fence, version=lease.version, reason=why)
    except Conflict:
        return False
    return True
