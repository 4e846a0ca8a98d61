"""Serve the verbs to agents by MCP on stdin and stdout.

For the configuration of an agent program: `dos init --mcp HOST` writes it. Tools that read are
always offered, and so are those that record the caller's own work: leases, attempts and the
decisions of its loop. An agent of a fleet may call what it may call on the command line.
"""

from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.mcp import stdio
from dos.mcp.catalog import Permits
from dos.mcp.protocol import Session
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"ended": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """Which tools that act are offered."""

    allow_fleet: Annotated[bool, Option(help="offer `start`, `stop`, `add_unit`, `steer`")] = False
    allow_answers: Annotated[bool, Option(help="offer `answer`, which decides for a person")] = (
        False
    )
    read_only: Annotated[bool, Option(help="offer only tools that change nothing")] = False


def run(args: Args, context: Context) -> Reply:
    """Serve until the end of input."""
    if args.read_only and (args.allow_fleet or args.allow_answers):
        raise BadInput(
            "--read-only cannot be combined with --allow-fleet or --allow-answers",
            hint="Give one of them.",
        )
    permits = Permits(
        records=not args.read_only, fleet=args.allow_fleet, answers=args.allow_answers
    )
    stdio.serve(Session(str(context.start_directory), permits))
    return Reply()
