"""Take over a lease that another owner holds.

The lease gets a new fence. The previous holder is locked out at once: it can neither renew the
lease nor write under it.
"""

from typing import Annotated

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
    lane: Annotated[str, Option(help="the lane", metavar="LANE")]
    owner: Annotated[str, Option(help="the new owner", metavar="OWNER")]
    loop_ts: Annotated[str, Option(help="only the lease with this stamp", metavar="STAMP")] = ""
    fence: Annotated[int | None, Option(help="only the lease with this fence", metavar="N")] = None
    run_id: Annotated[
        str, Option(help="the run that goes on; the old one when not given", metavar="RID")
    ] = ""
    pid: Annotated[
        int | None, Option(help="the worker's process, whose end frees the lane", metavar="PID")
    ] = None
    ttl_minutes: Annotated[
        float | None,
        Option(help="how long it lasts; as long as before when not given", metavar="MINUTES"),
    ] = None


def run(args: Args, context: Context) -> Reply:
    validated_name(args.owner, "owner")
    lane = validated_name(args.lane, "lane name")
    old = caller.find_lease(context.policy_world, lane=lane, loop_ts=args.loop_ts, fence=args.fence)
    new = None if old is None else _adopt(args, context, old)
    data = {
        "adopted": new is not None,
        "lane": old.lane if old else lane,
        "owner": args.owner,
        "previous_owner": old.holder if old else None,
        "previous_fence": old.fence if old else None,
        "fence": new.fence if new else None,
        "expires_in_seconds": new.ttl_ms / 1000 if new else None,
    }
    plain = (
        f"{args.owner!r} holds {data['lane']!r} now."
        if new
        else f"There was no lease on {data['lane']!r} to adopt."
    )
    return Reply(code=0 if new else 1, data=data, plain=plain, always_json=True)


def _adopt(args: Args, context: Context, old: Lease) -> Lease | None:
    worker = caller.identify_process(args.pid)
    same = Request(**{name: getattr(old, name) for name in Request.__struct_fields__})
    asked = structs.replace(
        same,
        holder=args.owner,
        host=process.host(),
        run_id=caller.run_id(args.run_id) if args.run_id else old.run_id,
        pid=worker.pid if worker else None,
        pid_started=worker.started if worker else None,
        system=process.system(),
        key_hash="",  # that of the old holder's programs, which are locked out
        ttl_ms=old.ttl_ms
        if args.ttl_minutes is None
        else caller.ttl_ms(args.ttl_minutes, context.policy),
    )
    try:
        return context.journal.adopt(old.fence, asked, version=old.version)
    except Conflict:
        return None  # its holder moved between the look and the write
