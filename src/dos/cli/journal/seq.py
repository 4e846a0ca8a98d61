"""Show the position of the newest event.

An empty journal is at position 0.
"""

from msgspec import Struct

from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}


class Args(Struct, kw_only=True):
    """No arguments."""


def run(_args: Args, context: Context) -> Reply:
    position = context.journal_world.journal.last()
    return Reply(text=str(position), data=position)
