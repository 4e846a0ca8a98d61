"""Start nothing new on a lane or on the whole fleet.

A worker finishes its current work and then waits; it keeps its lane. `dos resume LANE`, or
`dos resume` for the fleet, ends the pause. A pause stays in force when the supervisor restarts.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import pauses
from dos.cli.runs import lookup
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"paused": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """What to pause, and why."""

    lane: Annotated[
        str,
        Option(
            help="the lane to pause (default: the whole fleet)", positional=True, metavar="LANE"
        ),
    ] = ""
    reason: Annotated[str, Option(help="why, shown by `dos top`", metavar="TEXT")] = ""


def run(args: Args, context: Context) -> Reply:
    """Record the pause, unless it is in force already; both exit with 0."""
    lane = pauses.validated_lane(context, args.lane)
    reason = lookup.validated_text(args.reason, "reason")
    is_new = lane not in pauses.active_pauses(context)
    subject = pauses.describe(lane)
    command = pauses.resume_command(lane)
    if is_new:
        pauses.record_pause(context, lane, reason)
        text = f"{subject} is paused: workers finish their current work, then wait"
    else:
        text = f"{subject} is paused already"
    data = {
        "paused": True,
        "lane": lane or None,
        "paused_now": is_new,
        "ends_with": command,
    }
    return Reply(text=f"{text}; `{command}` ends it", data=data, next_action=command)
