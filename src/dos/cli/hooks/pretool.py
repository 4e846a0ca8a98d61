"""Answer an agent program's hook before a tool call.

Reads the program's event from stdin and prints a refusal where the call would write where this
agent may not: outside its own lane, after its lease was lost, or (with the posture `block` of
[enforcement]) in a lane that another worker holds. Nothing is printed for all other calls; reads
are never refused. Where dos itself fails, the failure is reported on stderr and the call of a
person's agent goes through. The exit code is 0 in every case but one: 2 if a person runs it on a
terminal, where there is no event.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks import dialects
from dos.cli import hook_event
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Whose hook it is."""

    dialect: Annotated[str, Option(help=hook_event.DIALECT_HELP, metavar="NAME")] = dialects.DEFAULT
    debug: Annotated[bool, Option(help="report on stderr why nothing was judged")] = False
    # The hook command sets it for an agent of the fleet whose worker does not answer.
    unanswered: Annotated[bool, Option(hidden=True)] = False
    # Settings of dos-kernel may contain these; nothing reads them here.
    handler: Annotated[str, Option(hidden=True)] = ""
    session_id: Annotated[str, Option(hidden=True)] = ""
    max_markers: Annotated[str, Option(hidden=True)] = ""
    loop: Annotated[bool, Option(hidden=True)] = False
    reset: Annotated[bool, Option(hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    """Answer the event on stdin: a refusal, a warning, or nothing."""
    if args.unanswered:
        return hook_event.refuse_unjudged(args.dialect)
    from dos.agenthooks.io.answer import HookOptions

    return hook_event.answer("pretool", args.dialect, context, HookOptions(), debug=args.debug)
