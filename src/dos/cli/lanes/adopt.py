"""Take over a lease that another owner holds.

The lease gets a new fence. The previous holder is locked out at once: it can neither renew the
lease nor write under it.
"""

from typing import Annotated, Any

from msgspec import Struct, structs

from dos.cli.lanes import caller
from dos.errors import Conflict
from dos.lease import Lease, Request
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"adopted": 0, "not-held": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """Which lease to take over, and what the new one records."""

    lane: Annotated[str, Option(help="lane of the lease", metavar="LANE")]
    owner: Annotated[str, Option(help="name of the new holder", metavar="OWNER")]
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    fence: Annotated[int | None, Option(help="only the lease with this fence", metavar="N")] = None
    run_id: Annotated[
        str, Option(help="run of the new holder (default: unchanged)", metavar="RID")
    ] = ""
    pid: Annotated[
        int | None, Option(help="worker process; its exit lets others reap", metavar="PID")
    ] = None
    ttl_minutes: Annotated[
        float | None, Option(help="lifetime (default: unchanged)", metavar="MINUTES")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Take the lease over, or reply that there is none to take over."""
    validated_name(args.owner, "owner")
    lane = validated_name(args.lane, "lane name")
    data: dict[str, Any] = {
        "adopted": False,
        "lane": lane,
        "owner": args.owner,
        "previous_owner": None,
        "previous_fence": None,
        "fence": None,
        "expires_in_seconds": None,
    }
    old = caller.find_lease(context.policy_world, lane=lane, loop_ts=args.loop_ts, fence=args.fence)
    new = None
    if old is not None:
        data |= {"lane": old.lane, "previous_owner": old.holder, "previous_fence": old.fence}
        new = _adopt(args, context, old)
    if new is None:
        plain = f"There is no lease on {data['lane']!r} to adopt."
        return Reply(code=1, data=data, plain=plain, always_json=True)
    data |= {"adopted": True, "fence": new.fence, "expires_in_seconds": new.ttl_ms / 1000}
    return Reply(data=data, plain=f"{args.owner!r} now holds {data['lane']!r}.", always_json=True)


def _adopt(args: Args, context: Context, old: Lease) -> Lease | None:
    """Adopt the lease; None if its holder renewed, released or lost it since it was read.

    The new lease has the lane, the region and the kind of the old one.
    """
    run_id = old.run_id
    if args.run_id:
        run_id = caller.run_id(args.run_id)
    ttl_ms = old.ttl_ms
    if args.ttl_minutes is not None:
        ttl_ms = caller.ttl_ms(args.ttl_minutes, context.policy)
    old_request = Request(**{name: getattr(old, name) for name in Request.__struct_fields__})
    request = structs.replace(
        old_request,
        holder=args.owner,
        host=process.host(),
        run_id=run_id,
        pid=None,
        pid_started=None,
        system=process.system(),
        key_hash="",  # the key of the previous holder's programs, which are locked out
        ttl_ms=ttl_ms,
    )
    worker = caller.identify_process(args.pid)
    if worker is not None:
        request = structs.replace(request, pid=worker.pid, pid_started=worker.started)
    try:
        return context.journal.adopt(old.fence, request, version=old.version)
    except Conflict:
        return None
