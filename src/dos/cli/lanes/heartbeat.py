"""Renew the lease that you hold on a lane.

Only the exact owner can renew it. A lease that was released, reaped or taken over cannot be
renewed.
"""

from typing import Annotated

from dos.cli.lanes import caller
from dos.errors import BadInput
from dos.lease import Lease
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"beat": 0, "not-held": 1, "contract_error": 2, "lock-busy": 4}


class Args(caller.HeldLeaseArgs, kw_only=True):
    """Which lease to renew."""

    coalesce_within_s: Annotated[
        float,
        Option(help="write nothing if the last renewal is younger than this", metavar="SECONDS"),
    ] = 0.0


def run(args: Args, context: Context) -> Reply:
    """Renew the lease, or reply that it is lost, so that the caller stops working."""
    if args.coalesce_within_s < 0:
        raise BadInput(
            "--coalesce-within-s cannot be below 0", hint="For example: --coalesce-within-s 30"
        )
    lease, lane, owner = args.find(context.journal_world)
    renewed = False
    if lease is not None:
        renewed = _renew(context, lease, args.coalesce_within_s)
    data = {"beat": renewed, "lane": lane, "owner": owner}
    if renewed:
        return Reply(data=data, plain=f"You still hold {lane!r}.", always_json=True)
    return Reply(
        code=1,
        data=data,
        plain="You no longer hold it.",
        next_action="STOP: stop working in this lane, and take it again first.",
        always_json=True,
    )


def _renew(context: Context, lease: Lease, coalesce_seconds: float) -> bool:
    """Renew the lease; False if it has ended or another holder has it."""
    # At most half of the lease's life, so that a renewal that was skipped cannot let it expire.
    coalesce_ms = min(int(coalesce_seconds * 1000), lease.ttl_ms // 2)
    return bool(context.journal.renew([lease.fence], coalesce_ms=coalesce_ms).kept)
