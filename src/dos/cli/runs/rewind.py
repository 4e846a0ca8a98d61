"""Propose the turn to cut a conversation back to.

The turn is the one that `dos run suspend --transcript` recorded. The conversation is not changed.
"""

from typing import Annotated

from msgspec import Struct, to_builtins

from dos import run_ids
from dos.errors import BadInput
from dos.journal import run_state
from dos.runs import rewind
from dos.runs.io.evidence import gather_rewind
from dos.runs.rewind import Answer, Fire
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"REWIND": 0, "NO_REWIND": 0, "UNANCHORED": 3, "contract_error": 2, "unknown": 4}


class Args(Struct, kw_only=True):
    """The run, why to rewind it, and its conversation."""

    run_id: Annotated[str, Option(help="run to rewind", metavar="RID")]
    fire: Annotated[
        str, Option(help="why it should rewind", metavar="TOKEN", choices=tuple(Fire))
    ] = ""
    transcript: Annotated[
        str, Option(help="conversation (default: the recorded one)", metavar="FILE")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Judge where to cut the conversation; nothing is recorded and no file is changed."""
    run_id = run_ids.validated_run_id(args.run_id)
    if "\0" in args.transcript:
        raise BadInput("--transcript is not a file name", hint="Give a file of JSON lines.")
    state = run_state.read(context.world.journal, run_id)
    evidence = gather_rewind(
        context.world, run_id, state, fire=args.fire, transcript=args.transcript
    )
    verdict = rewind.judge(evidence)
    lines = [f"{verdict.answer}  {verdict.reason}", *verdict.no_good_note.lines]
    next_action = ""
    if verdict.answer is Answer.REWIND:
        next_action = f"Drop every turn after {verdict.rewind_to_turn}."
    return Reply(
        code=EXITS[verdict.answer],
        text="\n".join(lines),
        data=to_builtins(verdict),
        next_action=next_action,
    )
