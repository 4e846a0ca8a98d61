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

# `unknown` is the error code of every verb; UNKNOWN is the answer if git cannot be read.
EXITS = {
    "SETTLED": 0,
    "EMPTY": 0,
    "OPEN": 3,
    "STUCK": 4,
    "UNKNOWN": 5,
    "contract_error": 2,
    "unknown": 5,
}
# What to type next, by answer; nothing where all units are settled.
NEXT = {
    Answer.EMPTY: "`dos doctor` shows where plans are read from.",
    Answer.OPEN: "`dos up` works on the open units.",
    Answer.STUCK: "`dos pickable UNIT --explain` shows what clears a hold.",
    Answer.UNKNOWN: "`dos doctor` shows what is wrong with the repository.",
}


class Args(Struct, kw_only=True):
    """The time to judge at."""

    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Read plans, journal and target branch, and place every unit in one list.

    The waits are those that `dos up` and `dos status` compute, so that all verbs give one reason
    why a unit is not worked on. Nothing is written.
    """
    world = context.world
    now_ms = times.now_ms(args.now_ms)
    outlook = FleetReader(world).outlook(now_ms=now_ms)
    observation = outlook.observation
    waits = outlook.waits.units
    waiting_units = [name for name, unit_waits in waits.items() if unit_waits]
    evidence = account_evidence(
        [*observation.units, *observation.unapproved],
        observation.on_target,
        world.config,
        unread=observation.target_problem,
        live=observation.live_runs,
        tried=attempts.recorded_attempts(world),
        answers=observation.answers,
        now_ms=now_ms,
        waiting=waiting_units,
    )
    verdict = account.judge(evidence)
    data = to_builtins(verdict)
    data["waiting"] = to_builtins({name: waits[name] for name in waiting_units})
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join([f"{verdict.answer}  {verdict.reason}", *_lines(verdict, waits)]),
        data=data,
        next_action=NEXT.get(verdict.answer, ""),
        indented=True,
    )


def _lines(verdict: Verdict, waits: Mapping[str, Waits]) -> list[str]:
    """Return a line for each unit that has not landed, with what it waits for."""

    def why(unit: str) -> str:
        if not waits.get(unit):
            return ""
        return f"  {waiting.describe_waits(waits[unit])}"

    lines = []
    for unit, run in verdict.in_flight.items():
        lines.append(f"  in progress   {unit}  {run}")
    for unit, run in verdict.interrupted.items():
        lines.append(f"  interrupted   {unit}  {run}{why(unit)}")
    for unit, reason in verdict.held.items():
        lines.append(f"  held          {unit}{why(unit) or f'  {reason}'}")
    for unit in verdict.resting:
        lines.append(f"  on cooldown   {unit}{why(unit)}")
    for unit in verdict.open:
        # Open means that it may be taken; a unit that waits is shown with what it waits for.
        state = "open"
        if waits.get(unit):
            state = "waiting"
        lines.append(f"  {state:<12}  {unit}{why(unit)}")
    for unit in verdict.undeclared:
        lines.append(f"  in no plan    {unit}")
    return lines
