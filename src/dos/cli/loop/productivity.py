"""Decide whether the steps of a run yield less and less.

It takes two steps in a row below the floor to say DIMINISHING, and two with no work at all to say
STALLED.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import parse_numbers as listed
from dos.cli.loop.numbers import values_checked as sensible
from dos.cli.loop.numbers import with_options as with_typed
from dos.loop.verdicts import productivity
from dos.loop.verdicts.productivity import Evidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"PRODUCTIVE": 0, "DIMINISHING": 3, "STALLED": 4, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    deltas: Annotated[
        str, Option(help="the work of each step, oldest first", metavar="N,N,…", may_be_empty=True)
    ] = ""
    min_steps: Annotated[
        int | None, Option(help="fewer say nothing; [productivity] min_steps", metavar="N")
    ] = None
    floor: Annotated[
        int | None, Option(help="less is little; [productivity] floor", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    with sensible("productivity"):
        policy = with_typed(
            context.world.config.productivity, min_steps=args.min_steps, floor=args.floor
        )
        verdict = productivity.judge(Evidence(deltas=listed(args.deltas, "--deltas")), policy)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
    )
