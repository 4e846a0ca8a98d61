"""Answer an agent program's hook after a tool call.

Reads the program's event from stdin and records digests of the call, never its contents. An agent
that repeats one call with one result is told so, as [tool_stream] says. The exit code is 0 in every
case but one: 2 if a person runs it on a terminal, where there is no event.
"""

from typing import Annotated

from msgspec import Struct

from dos.agenthooks import dialects
from dos.cli import hook_event
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Whose hook it is, and which conversation the call belongs to."""

    dialect: Annotated[str, Option(help=hook_event.DIALECT_HELP, metavar="NAME")] = dialects.DEFAULT
    session_id: Annotated[
        str, Option(help="name of the conversation; default: the event's", metavar="ID")
    ] = ""
    debug: Annotated[bool, Option(help="report on stderr why nothing was judged")] = False
    # Settings of dos-kernel may contain these; they belong to other moments.
    handler: Annotated[str, Option(hidden=True)] = ""
    max_markers: Annotated[str, Option(hidden=True)] = ""
    loop: Annotated[bool, Option(hidden=True)] = False
    reset: Annotated[bool, Option(hidden=True)] = False


def run(args: Args, context: Context) -> Reply:
    """Record the event on stdin, and print a warning or nothing."""
    from dos.agenthooks.io.answer import HookOptions

    options = HookOptions(session=args.session_id)
    return hook_event.answer("posttool", args.dialect, context, options, debug=args.debug)
