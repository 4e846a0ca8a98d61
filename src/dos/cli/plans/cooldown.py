"""Check whether a unit is on cooldown after a failed attempt.

The attempts are those in the journal, recorded by workers and `dos attempt`, or those given with
--attempts.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.backlog import cooldown
from dos.backlog.cooldown import EXIT_CODES
from dos.backlog.io.attempts import cooldown_evidence
from dos.text import validated_name
from dos.times import now_ms
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"CLEAR": 0, "RECENTLY_ATTEMPTED": 3, "contract_error": 2, "unknown": 5}


class Args(Struct, kw_only=True):
    """The unit, and facts to use instead of the recorded ones."""

    unit: Annotated[str, Option(help="unit to check", metavar="UNIT", positional=True)]
    attempts: Annotated[
        str | None, Option(help="attempts to use instead of the journal's", metavar="JSON")
    ] = None
    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Decide by the newest attempts on the unit; the exit code is 3 while it is on cooldown.

    [cooldown] of dos.toml sets how long a unit rests after which outcome.
    """
    unit, now = validated_name(args.unit, "unit"), now_ms(args.now_ms)
    seen = cooldown_evidence(context.world, unit, now_ms=now, instead=args.attempts)
    verdict = cooldown.judge(seen, context.policy.cooldown)
    next_action = ""
    if verdict.held:
        next_action = "Take another unit meanwhile."
    return Reply(
        code=EXIT_CODES[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=next_action,
    )
