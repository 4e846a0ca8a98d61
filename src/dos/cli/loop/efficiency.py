"""Decide whether the work done was worth its tokens.

Below --min-tokens there is too little evidence, and the answer is EFFICIENT.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.cli.loop.numbers import values_checked, with_options
from dos.loop.verdicts import efficiency
from dos.loop.verdicts.efficiency import Evidence
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"EFFICIENT": 0, "COSTLY": 3, "WASTEFUL": 4, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The work, its tokens, and the thresholds."""

    work: Annotated[int, Option(help="amount of work done", metavar="N")] = 0
    tokens: Annotated[int, Option(help="tokens spent", metavar="N")] = 0
    min_tokens: Annotated[
        int | None,
        Option(help="fewer are not judged (default: [efficiency] min_tokens)", metavar="N"),
    ] = None
    floor: Annotated[
        float | None,
        Option(help="least work per token (default: [efficiency] floor)", metavar="RATIO"),
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Judge work against tokens, by the [efficiency] policy and the options given."""
    with values_checked("efficiency"):
        policy = with_options(
            context.world.config.efficiency, min_tokens=args.min_tokens, floor=args.floor
        )
        verdict = efficiency.judge(Evidence(work=args.work, tokens=args.tokens), policy)
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
    )
