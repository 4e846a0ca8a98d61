"""Show where every declared unit is.

Each unit is in exactly one list: landed according to git, in progress, interrupted by a crash, held
with its reason, on cooldown after a failed attempt, or open. Units that landed or were claimed and
are no longer in a plan come last.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct, to_builtins

from dos import times
from dos.backlog import account, waiting
from dos.backlog.account import Answer, Verdict
from dos.backlog.io import attempts
from dos.backlog.io.gather import account_evidence
from dos.backlog.waiting import Waits
from dos.fleet.io.reader import FleetReader
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "SETTLED": 0,
    "EMPTY": 0,
    "OPEN": 3,
    "STUCK": 4,
    "UNKNOWN": 5,
    "contract_error": 2,
    "unknown": 5,
}
NEXT = {
    Answer.EMPTY: "`dos doctor` says where plans are looked for.",
    Answer.OPEN: "`dos up` works on what is left.",
    Answer.STUCK: "`dos pickable UNIT --explain` says what clears a hold.",
    Answer.UNKNOWN: "`dos doctor` says what is wrong with the repository.",
}


class Args(Struct, kw_only=True):
    now_ms: Annotated[
        int | None, Option(help="what time it is; now when not given", metavar="MS")
    ] = None


def run(args: Args, context: Context) -> Reply:
    world, now_ms = context.world, times.now_ms(args.now_ms)
    found = FleetReader(world).outlook(now_ms=now_ms)
    seen, waits = found.observation, found.waits.units
    waiting_units = [name for name, unit_waits in waits.items() if unit_waits]
    verdict = account.judge(
        account_evidence(
            [*seen.units, *seen.unapproved],
            seen.on_target,
            world.config,
            unread=seen.target_problem,
            live=seen.live_runs,
            tried=attempts.recorded_attempts(world),
            answers=seen.answers,
            now_ms=now_ms,
            waiting=waiting_units,
        )
    )
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *_lines(verdict, waits)]),
        data=to_builtins(verdict)
        | {"waiting": to_builtins({name: waits[name] for name in waiting_units})},
        next_action=NEXT.get(verdict.answer, ""),
        indented=True,
    )


def _lines(verdict: Verdict, waits: Mapping[str, Waits]) -> list[str]:
    def why(unit: str) -> str:
        return f"  {waiting.describe_waits(waits[unit])}" if waits.get(unit) else ""

    return [
        *(f"  under way     {unit}  {run}" for unit, run in verdict.in_flight.items()),
        *(f"  interrupted   {unit}  {run}{why(unit)}" for unit, run in verdict.interrupted.items()),
        *(
            f"  held          {unit}{why(unit) or f'  {reason}'}"
            for unit, reason in verdict.held.items()
        ),
        *(f"  resting       {unit}{why(unit)}" for unit in verdict.resting),
        *(
            f"  {'waiting' if waits.get(unit) else 'free':<12}  {unit}{why(unit)}"
            for unit in verdict.open
        ),
        *(f"  in no plan    {unit}" for unit in verdict.undeclared),
    ]
