"""Decide whether the remaining work shrinks round by round.

The rounds are given by --residuals, or they are the iterations of a run: what was left on its lane
after each.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import parse_numbers, values_checked
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.loop.io import history
from dos.loop.verdicts import convergence
from dos.loop.verdicts.convergence import Evidence, Policy
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "CONVERGING": 0,
    "INSUFFICIENT": 0,
    "not-found": 1,
    "THRASHING": 3,
    "STARVED": 4,
    "contract_error": 2,
    "unknown": 5,
}


class Args(Struct, kw_only=True):
    """The rounds, or the run to read them from, and the thresholds."""

    residuals: Annotated[
        str, Option(help="what was left after each round, oldest first", metavar="N,N,…")
    ] = ""
    run: Annotated[str, Option(help="use the iterations of this run", metavar="RID")] = ""
    max_nonconverging: Annotated[
        int, Option(help="rounds without progress until THRASHING", metavar="N")
    ] = 3
    window: Annotated[int, Option(help="rounds to consider when nothing changes", metavar="N")] = 4


def run(args: Args, context: Context) -> Reply:
    """Judge the remaining work of each round, from an option or from a recorded run.

    Raises BadInput for both. A run that is not in the journal exits with 1.
    """
    if args.run and args.residuals:
        raise BadInput("--run cannot be combined with --residuals", hint="Give one of them.")
    residuals = parse_numbers(args.residuals, "--residuals")
    if args.run:
        found = lookup.find_run(context, args.run)
        if found.missing:
            return found.missing
        residuals = history.rounds(found.events).residuals
    with values_checked("convergence"):
        policy = Policy(max_nonconverging=args.max_nonconverging, window=args.window)
        verdict = convergence.judge(Evidence(residuals=residuals), policy)
    next_action = ""
    if verdict.should_surface:
        next_action = "Stop and look at what is left: more rounds like these change nothing."
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=next_action,
    )
