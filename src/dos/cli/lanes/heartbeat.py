"""Renew the lease that you hold on a lane.

Only the exact owner can renew it. A lease that was released, reaped or taken over cannot be
renewed.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import caller
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"beat": 0, "not-held": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    lane: Annotated[str | None, Option(help="the lane that you hold", metavar="LANE")] = None
    owner: Annotated[
        str | None, Option(help="the name that you took it under", metavar="OWNER")
    ] = None
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    fence: Annotated[int | None, Option(help="only the lease with this fence", metavar="N")] = None
    coalesce_within_s: Annotated[
        float,
        Option(help="write nothing when the last beat is younger than this", metavar="SECONDS"),
    ] = 0.0


def run(args: Args, context: Context) -> Reply:
    lane, owner = caller.validated_holder(args.lane, args.owner, args.fence)
    if args.coalesce_within_s < 0:
        raise BadInput(
            "--coalesce-within-s cannot be below 0", hint="For example: --coalesce-within-s 30"
        )
    lease = caller.find_lease(
        context.journal_world, lane=lane, owner=owner, loop_ts=args.loop_ts, fence=args.fence
    )
    kept = None
    if lease is not None:
        # At most half of its life, so that a beat that was left out cannot end it.
        coalesce_ms = min(int(args.coalesce_within_s * 1000), lease.ttl_ms // 2)
        kept = next(iter(context.journal.renew([lease.fence], coalesce_ms=coalesce_ms).kept), None)
    data = {
        "beat": kept is not None,
        "lane": lease.lane if lease else lane,
        "owner": lease.holder if lease else owner,
    }
    return Reply(
        code=0 if kept else 1,
        data=data,
        plain=f"You still hold {data['lane']!r}." if kept else "You do not hold it any more.",
        next_action="" if kept else "STOP: stop working in this lane, and ask for it again.",
        always_json=True,
    )
