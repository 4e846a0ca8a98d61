"""Decide what the exit code of another program's hook means.

0 passes and 2 blocks, as agent programs read them. --map says what other codes mean; one without a
meaning warns. The exit code is that of the rung, or of the built-in rung that does the same.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks import intervention
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "PASS": 0,
    "BLOCK": 3,
    "WARN": 4,
    "DEFER": 5,
    "OBSERVE": 6,
    "contract_error": 2,
    "unknown": 7,
}


class Args(Struct, kw_only=True):
    """The code, and what codes mean."""

    code: Annotated[int, Option(help="exit code of the hook", metavar="N")]
    map: Annotated[
        list[str],
        Option(help="what other codes mean", metavar="CODE=RUNG,...", repeatable=True),
    ] = []


def run(args: Args, context: Context) -> Reply:
    """Read the code by the mapping and the rungs of [intervention]."""
    if not 0 <= args.code <= 255:
        raise BadInput(f"--code {args.code} is no exit code", hint="Give 0 to 255.")
    rungs = intervention.ladder(context.world.config.intervention)
    verdict = intervention.judge_exit(args.code, intervention.read_mapping(args.map, rungs), rungs)
    actuation = verdict.rung.actuation if verdict.rung else ""
    return Reply(
        code=EXITS[verdict.answer],
        text=f"{verdict.intervention}  {verdict.reason}",
        data=intervention.as_json(verdict),
        next_action=actuation,
    )
