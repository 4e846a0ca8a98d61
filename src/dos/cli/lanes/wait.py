"""Wait until a lane is free.

No lease is taken: another owner may be faster, so take it with `dos lease-lane acquire` afterwards.
"""

import time
from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import arbitrate
from dos.errors import BadInput
from dos.lanes.arbitrate import Answer, ArbiterRequest, Decision, judge
from dos.lanes.io.gather import arbiter_evidence
from dos.lanes.io.leases import lease_rows
from dos.lanes.io.parts import config_for
from dos.lease import RefusalReason
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"free": 0, "not-free": 1, "contract_error": 2}
# A lease that expires writes no event, so the journal is looked at again at least this often.
LOOK_SECONDS = 5.0
# Waiting cannot change these refusals.
PERMANENT = {RefusalReason.REGION_UNKNOWN, RefusalReason.SELF_MODIFY, RefusalReason.UNKNOWN_LANE}


class Args(Struct, kw_only=True):
    """The lane, and how long to wait for it."""

    lane: Annotated[str, Option(help="lane to wait for", metavar="LANE")]
    timeout: Annotated[
        float | None,
        Option(help="give up after this long (default: never)", metavar="SECONDS"),
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Wait until the lane could be granted, cannot ever be granted, or the time is up."""
    validated_name(args.lane, "lane name")
    if args.timeout is not None and args.timeout < 0:
        raise BadInput("--timeout cannot be below 0", hint="For example: --timeout 60")
    started = time.monotonic()
    while True:
        position = context.world.journal.last()
        decision = _decide(args, context)
        waited = time.monotonic() - started
        seconds_left = LOOK_SECONDS
        if args.timeout is not None:
            seconds_left = args.timeout - waited
        final = decision.outcome is Answer.ACQUIRE or decision.reason_class in PERMANENT
        if final or seconds_left <= 0:
            return _reply(decision, waited, _hint(args, context, decision))
        context.world.journal.wait(position, min(seconds_left, _seconds_to_next_expiry(context)))


def _decide(args: Args, context: Context) -> Decision:
    """Ask the arbiter whether this very lane could be granted now."""
    evidence = arbiter_evidence(context.world, config_for(context.policy_world, args.lane))
    return judge(
        ArbiterRequest(lane=args.lane, exact=True),
        evidence.live,
        evidence.roster,
        predicates=evidence.predicates,
        config=context.policy,
    )


def _seconds_to_next_expiry(context: Context) -> float:
    """Return the seconds until the next lease expires, at most LOOK_SECONDS."""
    soonest = LOOK_SECONDS
    for row in lease_rows(context.world.journal):
        if not row.lapsed:
            soonest = min(soonest, row.expires_in_seconds + 0.001)
    return soonest


def _hint(args: Args, context: Context, decision: Decision) -> dict[str, str]:
    """Return the hint to reap, if the process of a lease in the way has exited."""
    if decision.exit_code != 1:
        return {}
    ask = ArbiterRequest(lane=args.lane)
    return arbitrate.reap_hint(arbitrate.blocking_leases(context, context.world.journal, ask))


def _reply(decision: Decision, waited: float, hint: dict[str, str]) -> Reply:
    """Return the reply: whether the lane is free, why not, and how long this call has waited.

    A free lane is still the caller's to take: by then another owner may have it.
    """
    if decision.outcome is Answer.ACQUIRE:
        free = True
        lane = decision.lane
        reason = f"lane {lane!r} is free; no lease was taken for you"
        plain = f"{lane!r} is free."
        next_action = "dos lease-lane acquire"
    else:
        free = False
        lane = decision.requested_lane
        reason = decision.reason
        plain = f"{lane!r} is not free: {reason}."
        next_action = arbitrate.interpretation(decision, hint)
    data = {"free": free, "lane": lane, "reason": reason, "waited_seconds": round(waited, 3)}
    return Reply(
        code=decision.exit_code,
        data=data | hint,
        plain=plain,
        stderr=arbitrate.warning_text(decision, hint),
        next_action=next_action,
        always_json=True,
    )
