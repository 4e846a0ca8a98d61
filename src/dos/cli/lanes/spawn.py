"""Record that a worker is about to start on a lane.

No lease is granted: the worker takes the lane itself. Until it has, a supervisor counts the lane as
being staffed.
"""

import os
from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import caller
from dos.journal import streams
from dos.journal.events.fleet import SpawnIntended
from dos.machine import process
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"recorded": 0, "not-recorded": 1, "contract_error": 2, "lock-busy": 4}
LONGEST_REASON = 1_000


class Args(Struct, kw_only=True):
    """The lane, and what to record about the start."""

    lane: Annotated[str, Option(help="lane of the worker", metavar="LANE")]
    owner: Annotated[str, Option(help="launcher's name (default: host and pid of the caller)")] = ""
    loop_ts: Annotated[
        str, Option(help="stamp that identifies the loop (default: now)", metavar="STAMP")
    ] = ""
    run_id: Annotated[
        str, Option(help="run id (default: $CID_RUN_ID or $DISPATCH_RUN_ID)", metavar="RID")
    ] = ""
    reason: Annotated[str, Option(help="reason to record", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    """Record the start; raises BadInput for a lane that is unknown."""
    lane = caller.known_lane(context.policy_world, validated_name(args.lane, "lane name"))
    host = process.host()
    holder = caller.optional_name(args.owner, "owner") or f"{host}:{os.getppid()}"
    intended = SpawnIntended(
        lane=lane,
        run_id=caller.run_id(args.run_id),
        host=host,
        holder=holder,
        loop_ts=caller.loop_stamp(args.loop_ts),
        reason=validated_name(args.reason or f"spawn:{holder}", "reason", longest=LONGEST_REASON),
    )
    context.journal.record(streams.spawn(lane), intended)
    data = {"recorded": True, "lane": lane, "loop_ts": intended.loop_ts, "holder": holder}
    plain = f"Recorded: a worker is starting on lane {lane!r}."
    return Reply(data=data, plain=plain, always_json=True)
