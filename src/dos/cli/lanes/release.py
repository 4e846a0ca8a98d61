"""Release the lease that you hold on a lane.

Only the exact owner can release it. A worker's lease has a key, which only the worker and its
programs have. `dos lease-lane reap` revokes the leases of exited processes.
"""

from typing import Annotated

from dos.cli.lanes import caller
from dos.errors import Fenced, NotPermitted
from dos.lanes.io.caller import holds
from dos.lease import Lease
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"released": 0, "not-held": 1, "contract_error": 2, "lock-busy": 4}
LONGEST_REASON = 1_000


class Args(caller.HeldLeaseArgs, kw_only=True):
    """Which lease to release, and why."""

    reason: Annotated[str, Option(help="reason to record", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    """Release the lease, or reply that the owner does not hold it."""
    if args.reason:
        validated_name(args.reason, "reason", longest=LONGEST_REASON)
    lease, lane, owner = args.find(context.journal_world)
    released = False
    if lease is not None:
        _check_holder(lease)
        released = _release(context, lease, args.reason)
    data = {"released": released, "lane": lane, "owner": owner}
    if released:
        return Reply(data=data, plain=f"{lane!r} is free again.", always_json=True)
    plain = f"{owner!r} does not hold {lane!r}."
    return Reply(code=1, data=data, plain=plain, always_json=True)


def _check_holder(lease: Lease) -> None:
    """Raise NotPermitted unless this process belongs to the worker whose lease it is.

    A lease whose process has exited is free for all.
    """
    if holds(lease) or process.holder_has_exited(lease):
        return
    raise NotPermitted(
        f"lane {lease.lane!r} is held by the worker of run {lease.run_id}, and only that worker can"
        " release it",
        hint=f"Stop the worker: dos halt {lease.run_id}; or take the lane: dos lease-lane adopt",
    )


def _release(context: Context, lease: Lease, reason: str) -> bool:
    """Release the lease; False if another owner took it since it was read."""
    try:
        context.journal.release(lease.fence, reason)
    except Fenced:
        return False
    return True
