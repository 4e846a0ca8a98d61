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
    lane: Annotated[str, Option(help="the lane", metavar="LANE")]
    owner: Annotated[
        str, Option(help="who starts it; the host and the calling process when not given")
    ] = ""
    loop_ts: Annotated[
        str, Option(help="the loop's own stamp; now when not given", metavar="STAMP")
    ] = ""
    run_id: Annotated[
        str, Option(help="the run; $CID_RUN_ID or $DISPATCH_RUN_ID when not given", metavar="RID")
    ] = ""
    reason: Annotated[str, Option(help="why, for the record", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    lane = caller.known_lane(context.policy_world, validated_name(args.lane, "lane name"))
    host = process.host()
    holder = validated_name(args.owner, "owner") if args.owner else f"{host}:{os.getppid()}"
    fact = SpawnIntended(
        lane=lane,
        run_id=caller.run_id(args.run_id),
        host=host,
        holder=holder,
        loop_ts=caller.loop_stamp(args.loop_ts),
        reason=validated_name(args.reason or f"spawn:{holder}", "reason", longest=LONGEST_REASON),
    )
    context.journal.record(streams.spawn(lane), fact)
    data = {"recorded": True, "lane": lane, "loop_ts": fact.loop_ts, "holder": holder}
    return Reply(data=data, plain=f"A worker for {lane!r} is on its way.", always_json=True)
