"""Check whether a worker may take a unit now.

If not, one reason is given. Without --state the facts are read from the journal, the plan
documents, git and the live leases; where git cannot tell what has landed, the answer is unknown.
With it they are given: shipped unparseable in_flight soft_claimed_elsewhere stale_claim plan_class
operator_gated soak_open dependency_unmet cooldown_until_ms, tested in that order.
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
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

# The codes from 10 to 13 are holds that dispatching the unit again cannot change.
EXITS = {
    "OFFERABLE": 0,
    "DRAFT_CLASS": 10,
    "OPERATOR_GATED": 11,
    "SOAK_OPEN": 12,
    "DEPENDENCY_UNMET": 13,
    "IN_FLIGHT": 20,
    "SOFT_CLAIMED_ELSEWHERE": 21,
    "STALE_CLAIM": 22,
    "COOLDOWN": 23,
    "UNPARSEABLE": 24,
    "SHIPPED": 25,
    "contract_error": 2,
    "unknown": 8,
}


class Args(Struct, kw_only=True):
    """The unit, and facts to use instead of the recorded ones."""

    unit: Annotated[str, Option(help="unit to check", metavar="UNIT", positional=True)] = ""
    state: Annotated[
        str | None, Option(help="facts to use instead of the recorded ones", metavar="JSON")
    ] = None
    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Decide whether the unit may be taken; each reason not to has its own exit code.

    Raises BadInput if --state is not a JSON object, and for a time that no date can name.
    """
    now = now_ms(args.now_ms)
    if args.unit or args.state is None:
        validated_name(args.unit, "unit")
    if args.state is not None:
        return _reply(pickable.judge(_parse_state(args.state, args.unit, now)))
    gathered = _gather(args.unit, context, now)
    if isinstance(gathered, Unknown):
        return _nobody_knows(args.unit, f"landings could not be read: {gathered.why}")
    evidence, waits = gathered
    return _reply(pickable.judge(evidence), waits)


def _nobody_knows(unit: str, why: str) -> Reply:
    """Return that the unit is held until git can be read: it may have landed."""
    return Reply(
        code=EXITS["unknown"],
        text=f"UNKNOWN  {why}",
        data={
            "unit": unit,
            "held": True,
            "reason": "UNKNOWN",
            "evidence": why,
            "redispatch_invariant": False,
            "waiting": [],
        },
    )


def _reply(verdict: Verdict, waits: Waits | None = None) -> Reply:
    """Return the verdict, the fix that the table of reasons knows, and what the unit waits for.

    `waits` is None where the facts were given: what else is in the way is not known then.
    """
    next_action = ""
    if verdict.reason:
        reason = table.find(verdict.reason)
        if reason:
            next_action = reason.fix
    data = to_builtins(verdict)
    text = _text(verdict)
    if waits is not None:
        data["waiting"] = to_builtins(waits)
    if waits:
        text = f"{text}\nwaiting: {waiting.describe_waits(waits)}"
    return Reply(code=verdict.exit_code, text=text, data=data, next_action=next_action)


def _gather(unit: str, context: Context, now: int) -> tuple[Evidence, Waits] | Unknown:
    """Return the facts about the unit, and everything that the unit or its lane waits for.

    Unknown where git cannot tell what has landed and nothing else holds the unit.

    Imported here: a call with --state needs none of this.
    """
    from dos.backlog.io.gather import pickable_evidence
    from dos.fleet.io.reader import FleetReader

    outlook = FleetReader(context.world).outlook(now_ms=now)
    observation = outlook.observation
    declared = [*observation.units, *observation.unapproved]
    evidence = pickable_evidence(
        context.world,
        unit,
        declared,
        observation.on_target,
        live=observation.live_runs,
        answers=observation.answers,
        now_ms=now,
    )
    if observation.target_problem and not pickable.judge(evidence).held:
        return Unknown(observation.target_problem)
    return evidence, outlook.waits.units.get(evidence.unit, ())


def _parse_state(text: str, unit: str, now: int) -> Evidence:
    """Parse --state; raises BadInput unless it is a JSON object."""
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
    """Return the answer in one line, also for a hold that no further dispatch can clear."""
    if verdict.reason is None:
        return f"{OFFERABLE}  {verdict.unit or 'it'} can be picked"
    line = f"HELD({verdict.reason})  {verdict.evidence}"
    if verdict.is_redispatch_invariant:
        line += "; dispatching it again cannot change that"
    return line
