"""Add a decision for a person.

For a loop of your own that cannot continue without one. The same text is one row while it is open;
nothing waits for it.
"""

import re
from typing import Annotated

from msgspec import Struct

from dos.cli.lanes import caller
from dos.cli.runs import lookup
from dos.errors import BadInput
from dos.journal import fold
from dos.questions import state
from dos.questions.catalog import Added
from dos.questions.state import Decisions
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"added": 0, "already-open": 0, "contract_error": 2, "lock-busy": 4}
LONGEST_KIND = 40
EXAMPLE = "For example: --kind FLAG"
# Refusals clear by themselves: `dos recurring` counts them, and they are never decisions.
COUNTED = ("ARBITER_REFUSE", "PREFLIGHT_REFUSE")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class Args(Struct, kw_only=True):
    kind: Annotated[str, Option(help="one word for its kind, such as FLAG", metavar="KIND")]
    lane: Annotated[str, Option(help="the lane it is about", metavar="LANE")]
    text: Annotated[str, Option(help="what a person must know or decide", metavar="TEXT")]
    command: Annotated[
        str, Option(help="a command to show with it; it is never run", metavar="COMMAND")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    kind = _validated_kind(args.kind)
    lane = caller.known_lane(context.journal_world, validated_name(args.lane, "lane name"))
    text = lookup.validated_text(args.text, "text").strip()
    if not text:
        raise BadInput("--text is empty", hint="Say what a person must know or decide.")
    command = lookup.validated_text(args.command, "command")
    recorded, _ = fold.current(context.journal, Decisions)
    question = Added.ask(kind, lane, text, command, answered=recorded.answered)
    is_new = question.id not in recorded.open
    context.journal.append_all([state.raise_entry(question)])
    outcome = "already open"
    if is_new:
        outcome = "added"
    return Reply(
        text=f"{outcome}  {question.id}",
        data={"id": question.id, "added": is_new, "kind": kind, "lane": lane},
    )


def _validated_kind(kind: str) -> str:
    """Return the kind in capitals; raises BadInput where it cannot be one."""
    if not _KIND.fullmatch(kind) or len(kind) > LONGEST_KIND:
        raise BadInput(
            f"--kind {quote(kind)} is not one word of letters, digits and _", hint=EXAMPLE
        )
    if kind.upper() in COUNTED:
        raise BadInput(
            f"{kind.upper()} is counted by `dos recurring` and is never a decision", hint=EXAMPLE
        )
    return kind.upper()
