"""Answer an agent program's hook while it may wait.

A stop hook that keeps the turn of a waiting agent open, a limited number of times in a row: as
[marker] says, or --max-markers. It does so only in a loop: with --loop, or where a variable of
`arm_on_env` is set. The exit code is 0 in every case but one: 2 if a person runs it on a terminal,
where there is no event.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks import dialects
from dos.cli import hook_event
from dos.errors import BadInput
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Whose hook it is, and how often the turn may be held."""

    dialect: Annotated[str, Option(help=hook_event.DIALECT_HELP, metavar="NAME")] = dialects.DEFAULT
    session_id: Annotated[
        str, Option(help="name of the conversation; default: the event's", metavar="ID")
    ] = ""
    loop: Annotated[bool, Option(help="the conversation is a loop, whatever is set")] = False
    reset: Annotated[bool, Option(help="count from 0 again; prints nothing")] = False
    max_markers: Annotated[
        int | None, Option(help="holds in a row; default: [marker] max_streak", metavar="N")
    ] = None
    debug: Annotated[bool, Option(help="report on stderr why nothing was judged")] = False
    # Settings of dos-kernel may contain these; they belong to other moments.
    handler: Annotated[str, Option(hidden=True)] = ""


def run(args: Args, context: Context) -> Reply:
    """Print a refusal to stop, or nothing."""
    from dos.agenthooks.io.answer import HookOptions

    if args.max_markers is not None and args.max_markers < 0:
        raise BadInput(f"--max-markers {args.max_markers} is below 0", hint="Give 0 or more.")
    options = HookOptions(
        session=args.session_id,
        loop=args.loop,
        reset=args.reset,
        max_markers=args.max_markers,
    )
    return hook_event.answer(
        "marker", args.dialect, context, options, may_be_missing=args.reset, debug=args.debug
    )
