"""Decide whether a run's stop reason has recurred in others.

A run's cause is its stop reason, if a person or an outside change has to clear it. All
of it is read from the journal.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.cli.loop.numbers import values_checked as sensible
from dos.errors import BadInput
from dos.loop.io import history as evidence
from dos.loop.verdicts import recurring
from dos.loop.verdicts.recurring import Evidence, Policy
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"NEW": 0, "RECURRING": 3, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    run_id: Annotated[
        str, Option(help="the run; the last that stopped when not given", positional=True)
    ] = ""
    min_recurrence: Annotated[int, Option(help="from so many runs on it recurs", metavar="N")] = 2


def run(args: Args, context: Context) -> Reply:
    run_id = run_ids.validated_run_id(args.run_id) if args.run_id else ""
    with sensible("recurring"):
        policy = Policy(min_recurrence=args.min_recurrence)
    seen = evidence.recurring_evidence(context.world.journal, run_id)
    if run_id and seen is None:
        raise BadInput(
            f"the journal knows no run {run_id}", hint="`dos status` lists the last that stopped."
        )
    verdict = recurring.judge(seen or Evidence(run=""), policy)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=f"`dos man wedge {verdict.cause_key}` says what clears it."
        if verdict.recurring
        else "",
    )
