"""Compute the sort key of a unit among units of one rank.

Sort ascending by this key, after your own keys: units that were never tried come first, then those
whose last attempt is the oldest.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog.attempts import EXIT_CODES, judge_freshness
from dos.backlog.io.attempts import freshness_evidence
from dos.text import validated_name
from dos.units.io import sources
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"NEVER_ATTEMPTED": 0, "ATTEMPTED": 3, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The unit, and its attempts."""

    unit: Annotated[str, Option(help="unit to rank", metavar="UNIT", positional=True)]
    attempts: Annotated[
        str | None, Option(help="attempts to use instead of the journal's", metavar="JSON")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Compute the key from the recorded attempts, or from those given with --attempts.

    A name that is given with --attempts is used as it is: it need not be in any plan.
    """
    unit = validated_name(args.unit, "unit")
    if args.attempts is None:
        unit = sources.resolve_unit_name(context.world, unit)
    verdict = judge_freshness(freshness_evidence(context.world, unit, instead=args.attempts))
    return Reply(
        code=EXIT_CODES[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
    )
