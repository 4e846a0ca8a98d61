"""Decide whether a failure has repeated often enough to stop.

The breaker opens after so many failures in a row, or so many in total. A limit of 0 never opens it;
at least one limit must be above 0. The counts are given by options, or taken from a run: its
iterations that landed nothing.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import values_checked, with_options
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.loop.io import history
from dos.loop.verdicts import breaker
from dos.loop.verdicts.breaker import Answer, Evidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"CLOSED": 0, "not-found": 1, "OPEN": 3, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The failure counts, or the run to count them in, and the limits."""

    consecutive: Annotated[int, Option(help="failures in a row", metavar="N")] = 0
    total: Annotated[int, Option(help="failures in all", metavar="N")] = 0
    run: Annotated[str, Option(help="count the failures of this run", metavar="RID")] = ""
    max_consecutive: Annotated[
        int | None, Option(help="limit (default: [breaker] max_consecutive)", metavar="N")
    ] = None
    max_total: Annotated[
        int | None, Option(help="limit (default: [breaker] max_total)", metavar="N")
    ] = None
    on_trip: Annotated[
        str,
        Option(
            help="who is asked then (default: [breaker] on_trip)",
            choices=("none", "judge", "human"),
        ),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Judge the failures that options give, or those of a recorded run.

    Raises BadInput for both, and for limits that could never open the breaker.
    """
    consecutive = args.consecutive
    total = args.total
    if args.run:
        if consecutive or total:
            raise BadInput(
                "--run cannot be combined with --consecutive or --total",
                hint="Give one of them.",
            )
        found = lookup.find_run(context, args.run)
        if found.missing:
            return found.missing
        failures = history.rounds(found.events).failures
        consecutive = failures.consecutive
        total = failures.total
    with values_checked("breaker"):
        policy = with_options(
            context.world.config.breaker,
            max_consecutive=args.max_consecutive,
            max_total=args.max_total,
            on_trip=args.on_trip or None,
        )
        verdict = breaker.judge(Evidence(consecutive=consecutive, total=total), policy)
    next_action = "Stop repeating the same attempt."
    if verdict.answer is Answer.CLOSED:
        next_action = ""
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=next_action,
    )
