"""Wait until a lane is free.

No lease is taken: another owner may be faster, so take it with `dos lease-lane acquire` afterwards.
"""

import time
from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import arbitrate
from dos.errors import BadInput
from dos.lanes import arbitrate as arbiter
from dos.lanes.arbitrate import Answer, Decision
from dos.lanes.io import leases
from dos.lanes.io.gather import arbiter_evidence
from dos.lease import RefusalReason
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"free": 0, "not-free": 1, "contract_error": 2}
LOOK_SECONDS = (
    5.0  # a lease's end by time is no event; and so long is the longest that one can be overslept
)
FOR_EVER = {RefusalReason.REGION_UNKNOWN, RefusalReason.SELF_MODIFY, RefusalReason.UNKNOWN_LANE}


class Args(Struct, kw_only=True):
    lane: Annotated[str, Option(help="the lane", metavar="LANE")]
    timeout: Annotated[
        float | None,
        Option(help="give up after this long; never when not given", metavar="SECONDS"),
    ] = None


def run(args: Args, context: Context) -> Reply:
    validated_name(args.lane, "lane name")
    if args.timeout is not None and args.timeout < 0:
        raise BadInput("--timeout cannot be below 0", hint="For example: --timeout 60")
    started = time.monotonic()
    while True:
        after = context.world.journal.last()
        decision = _decide(args, context)
        waited = time.monotonic() - started
        left = LOOK_SECONDS if args.timeout is None else args.timeout - waited
        if decision.outcome is Answer.ACQUIRE or decision.reason_class in FOR_EVER or left <= 0:
            return _reply(decision, waited, _hint(args, context, decision))
        context.world.journal.wait(after, min(left, _next_lapse(context)))


def _decide(args: Args, context: Context) -> Decision:
    seen = arbiter_evidence(context.world, context.policy)
    asked = arbiter.Ask(lane=args.lane, exact=True)
    return arbiter.judge(
        asked, seen.live, seen.roster, predicates=seen.predicates, config=context.policy
    )


def _next_lapse(context: Context) -> float:
    left = [
        row.expires_in_seconds for row in leases.lease_rows(context.world.journal) if not row.lapsed
    ]
    return min([LOOK_SECONDS, *(seconds + 0.001 for seconds in left)])


def _hint(args: Args, context: Context, decision: Decision) -> dict[str, str]:
    if decision.exit_code != 1:
        return {}
    return arbitrate.reap_hint(
        arbitrate.blocking_leases(context, context.world.journal, arbiter.Ask(lane=args.lane))
    )


def _reply(decision: Decision, waited: float, hint: dict[str, str]) -> Reply:
    free = decision.outcome is Answer.ACQUIRE
    lane = decision.lane if free else decision.requested_lane
    reason = (
        f"lane {lane!r} can be taken now, and nobody has taken it for you"
        if free
        else decision.reason
    )
    return Reply(
        code=decision.exit_code,
        data={"free": free, "lane": lane, "reason": reason, "waited_seconds": round(waited, 3)}
        | hint,
        plain=f"{lane!r} is free." if free else f"{lane!r} is not free: {reason}.",
        stderr=arbitrate.warning_text(decision, hint),
        next_action="dos lease-lane acquire" if free else arbitrate.interpretation(decision, hint),
        always_json=True,
    )
