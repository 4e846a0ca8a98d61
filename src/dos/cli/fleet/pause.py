"""Start nothing new on a lane or on the whole fleet.

Whoever works finishes what it is at, and then holds; its lane stays its own. `dos resume LANE`, or `dos resume` for the
fleet, lets it go on. A pause outlives every supervisor.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import pauses
from dos.cli.runs import lookup
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"paused": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    lane: Annotated[
        str,
        Option(help="the lane; the whole fleet when not given", positional=True, metavar="LANE"),
    ] = ""
    reason: Annotated[str, Option(help="why, for whoever finds it paused", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    lane = pauses.validated_lane(context, args.lane)
    reason = lookup.validated_text(args.reason, "reason")
    before = pauses.active_pauses(context)
    if lane not in before:
        pauses.record_pause(context, lane, reason)
    what, again = pauses.describe(lane), pauses.resume_command(lane)
    told = (
        f"{what} was paused already"
        if lane in before
        else f"{what} is paused: who works finishes that, then holds"
    )
    data = {
        "paused": True,
        "lane": lane or None,
        "paused_now": lane not in before,
        "ends_with": again,
    }
    return Reply(text=f"{told}; `{again}` ends it", data=data, next_action=again)
