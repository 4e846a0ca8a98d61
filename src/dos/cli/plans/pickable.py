"""Check whether a worker may take a unit now.

If not, one reason is given. Without --state the facts are read from the journal, the plan documents
and the live leases. With it they are given: shipped unparseable in_flight soft_claimed_elsewhere
stale_claim plan_class operator_gated soak_open dependency_unmet cooldown_until_ms, tested in that
order.
"""

from typing import Annotated

from msgspec import DecodeError, Struct, json, to_builtins

from dos.backlog import pickable, waiting
from dos.backlog.pickable import OFFERABLE, Evidence, Verdict
from dos.backlog.waiting import Waits
from dos.errors import BadInput
from dos.reasons import table
from dos.text import validated_name
from dos.times import now_ms
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "OFFERABLE": 0, "DRAFT_CLASS": 10, "OPERATOR_GATED": 11, "SOAK_OPEN": 12, "DEPENDENCY_UNMET": 13,
    "IN_FLIGHT": 20, "SOFT_CLAIMED_ELSEWHERE": 21, "STALE_CLAIM": 22, "COOLDOWN": 23, "UNPARSEABLE": 24,
    "SHIPPED": 25, "contract_error": 2, "unknown": 8,
}  # fmt: skip


class Args(Struct, kw_only=True):
    unit: Annotated[str, Option(help="the unit", metavar="UNIT", positional=True)] = ""
    state: Annotated[
        str | None, Option(help="what is known of it, instead of what is recorded", metavar="JSON")
    ] = None
    now_ms: Annotated[
        int | None, Option(help="the moment asked about; now when not given", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    now = now_ms(args.now_ms)
    if args.unit or args.state is None:
        validated_name(args.unit, "unit")
    if args.state is not None:
        return _reply(pickable.judge(_told(args.state, args.unit, now)))
    known, waits = _gathered(args.unit, context, now)
    return _reply(pickable.judge(known), waits)


def _reply(verdict: Verdict, waits: Waits | None = None) -> Reply:
    reason = table.find(verdict.reason) if verdict.reason else None
    next_action = reason.fix if reason else ""
    data, text = to_builtins(verdict), _text(verdict)
    if waits is not None:
        data["waiting"] = to_builtins(waits)
    if waits:
        text = f"{text}\nwaiting: {waiting.describe_waits(waits)}"
    return Reply(code=verdict.exit_code, text=text, data=data, next_action=next_action)


def _gathered(unit: str, context: Context, now: int) -> tuple[Evidence, Waits]:
    """What is known of the unit, and all that keeps it from being worked on: also what its lane waits for."""
    from dos.backlog.io.gather import pickable_evidence
    from dos.fleet.io.reader import FleetReader

    found = FleetReader(context.world).outlook(now_ms=now)
    seen = found.observation
    declared = [*seen.units, *seen.unapproved]
    known = pickable_evidence(
        context.world,
        unit,
        declared,
        seen.on_target,
        live=seen.live_runs,
        answers=seen.answers,
        now_ms=now,
    )
    return known, found.waits.units.get(known.unit, ())


def _told(text: str, unit: str, now: int) -> Evidence:
    try:
        state = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--state is not JSON: {error}", hint='Give an object, such as {"in_flight": true}.'
        ) from error
    if not isinstance(state, dict):
        raise BadInput("--state is not an object", hint='Give one, such as {"in_flight": true}.')
    return pickable.evidence(state, unit=unit, now_ms=now)


def _text(verdict: Verdict) -> str:
    if verdict.reason is None:
        return f"{OFFERABLE}  {verdict.unit or 'it'} may be picked up"
    invariant = " (re-dispatch-invariant)" if verdict.is_redispatch_invariant else ""
    return f"HELD({verdict.reason}){invariant}  {verdict.evidence}"
