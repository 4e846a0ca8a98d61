"""Show the last number allocated in a scope.

Without an allocation the answer is null.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.journal import id_alloc
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The scope."""

    scope: Annotated[str, Option(help="what is numbered", positional=True, metavar="SCOPE")]


def run(args: Args, context: Context) -> Reply:
    number = id_alloc.last_allocated(context.journal_world.journal, args.scope).id
    plain = "none yet" if number is None else str(number)
    return Reply(data={"id": number, "scope": args.scope}, plain=plain, always_json=True)
