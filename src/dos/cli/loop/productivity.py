"""Decide whether the steps of a run yield less and less.

It takes two steps in a row below the floor to say DIMINISHING, and two with no work at all to say
STALLED.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import parse_numbers, values_checked, with_options
from dos.loop.verdicts import productivity
from dos.loop.verdicts.productivity import Evidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"PRODUCTIVE": 0, "DIMINISHING": 3, "STALLED": 4, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The work of each step, and the thresholds."""

    deltas: Annotated[
        str, Option(help="work of each step, oldest first", metavar="N,N,…", may_be_empty=True)
    ] = ""
    min_steps: Annotated[
        int | None,
        Option(help="fewer are not judged (default: [productivity] min_steps)", metavar="N"),
    ] = None
    floor: Annotated[
        int | None, Option(help="least work of a step (default: [productivity] floor)", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Judge the work of the last steps, by the [productivity] policy and the options given."""
    with values_checked("productivity"):
        policy = with_options(
            context.world.config.productivity, min_steps=args.min_steps, floor=args.floor
        )
        verdict = productivity.judge(
            Evidence(deltas=parse_numbers(args.deltas, "--deltas")), policy
        )
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
    )
