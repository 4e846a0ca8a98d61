"""Wait until work landed, a question came up or nobody works.

It answers as soon as one of them happened after a position of the journal, and after 50 seconds at
the latest. Pass the `position` of one answer as --after of the next: nothing is missed and nothing
is told twice. Without --after it waits for what happens from now on.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos.errors import BadInput
from dos.report.io.wait import LONGEST_SECONDS, Waited, wait_for_news
from dos.report.news import Until, Verdict
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"happened": 0, "timeout": 1, "contract_error": 2}
NEXT = {
    Verdict.QUESTION: "dos decisions",
    Verdict.LANDED: "dos status",
    Verdict.IDLE: "dos report",
    Verdict.TIMEOUT: "dos wait --after {position}",
}


class Args(Struct, kw_only=True):
    """What to wait for, from where on, and how long."""

    until: Annotated[
        str,
        Option(
            help="what ends the wait: landed, question, idle or any",
            choices=tuple(Until),
            metavar="WHAT",
        ),
    ] = "any"
    after: Annotated[
        int | None,
        Option(help="position of the journal (default: the newest event)", metavar="POSITION"),
    ] = None
    seconds: Annotated[
        float, Option(help="answer after this long at the latest, up to 50", metavar="SECONDS")
    ] = LONGEST_SECONDS


def run(args: Args, context: Context) -> Reply:
    """Wait, and reply with what happened; exit 1 if it did not happen in time."""
    if not 0 <= args.seconds <= LONGEST_SECONDS:
        raise BadInput(
            f"--seconds is {args.seconds:g}; it must be from 0 to {LONGEST_SECONDS:g}",
            hint="For example: dos wait --seconds 50",
        )
    if args.after is not None and args.after < 0:
        raise BadInput("--after cannot be below 0", hint="Positions start at 1; 0 is before all.")
    waited = wait_for_news(
        context.journal_world.journal, Until(args.until), after=args.after, seconds=args.seconds
    )
    return Reply(
        code=EXITS["timeout"] if waited.verdict is Verdict.TIMEOUT else EXITS["happened"],
        text=_text(waited),
        data=to_builtins(waited),
        next_action=NEXT[waited.verdict].format(position=waited.position),
    )


def _text(waited: Waited) -> str:
    """Return the answer as lines for people."""
    lines = [f"landed {entry.unit} on {entry.lane}" for entry in waited.landed]
    lines += [f"question {asked.id}: {asked.question}" for asked in waited.questions]
    if waited.verdict is Verdict.IDLE or not lines:
        lines.append(waited.reason)
    lines.append(f"position {waited.position}")
    return "\n".join(lines)
