"""Record that an attempt on a unit ended, and how.

A unit whose attempt did not ship goes on cooldown. Workers record this themselves.
"""

from typing import Annotated

from msgspec import Struct

from dos.backlog.cooldown import AttemptOutcome
from dos.cli.lanes import caller
from dos.journal import streams
from dos.journal.events.fleet import UnitAttempted
from dos.machine import process
from dos.text import validated_name
from dos.times import utc_stamp
from dos.units.io import sources
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

# lock-busy: another process kept the journal locked, and nothing was recorded.
EXITS = {"recorded": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """The unit, and how the attempt ended."""

    unit: Annotated[str, Option(help="unit that was tried", metavar="UNIT", positional=True)]
    outcome: Annotated[
        str,
        Option(help="shipped, drained, blocked, error or unknown", choices=tuple(AttemptOutcome)),
    ]
    lane: Annotated[str, Option(help="lane that it was tried on", metavar="LANE")] = ""
    run_id: Annotated[
        str, Option(help="run id (default: $CID_RUN_ID or $DISPATCH_RUN_ID)", metavar="RID")
    ] = ""
    loop_ts: Annotated[str, Option(help="stamp that identifies the loop", metavar="STAMP")] = ""


def run(args: Args, context: Context) -> Reply:
    """Record the attempt on the unit's stream, with the time of the journal.

    The unit is stored by its full name where a plan declares it, together with a fingerprint of
    its text: after an edit of the plan the attempt counts for the old text only. Raises NameInvalid
    for a name that cannot be stored.
    """
    lane = caller.optional_name(args.lane, "lane name")
    loop_ts = caller.optional_name(args.loop_ts, "loop stamp")
    word = validated_name(args.unit, "unit")
    declared = sources.find_unit(
        sources.read(context.world.workspace, context.world.config).units, word
    )
    unit = word
    fingerprint = ""
    if declared:
        unit = declared.name
        fingerprint = declared.fingerprint
    fact = UnitAttempted(
        unit=unit,
        outcome=args.outcome,
        lane=context.policy.canonical_lane(lane) or lane,
        run_id=caller.run_id(args.run_id),
        loop_ts=loop_ts,
        host=process.host(),
        text=fingerprint,
    )
    event = context.journal.record(streams.unit(fact.unit), fact)
    return Reply(
        text=f"recorded  {fact.unit}: {fact.outcome}",
        data={
            "recorded": True,
            "unit_id": fact.unit,
            "outcome": fact.outcome,
            "lane": fact.lane,
            "ts": utc_stamp(event.at_ms),
            "run_id": fact.run_id,
            "loop_ts": fact.loop_ts,
            "seq": event.pos,
        },
    )
