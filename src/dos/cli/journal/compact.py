"""The same as `dos journal prune`, with the answer that released versions gave.

No bytes are given back to the disk: the journal's file is used again for what comes.
"""

from msgspec import structs

from dos.cli.journal import prune
from dos.cli.journal.prune import Args
from dos.verbs.context import Desk, Reply

EXITS = {"pruned": 0, "contract_error": 2, "lock-busy": 4}


def run(args: Args, desk: Desk) -> Reply:
    before = _count(desk)
    reply = prune.run(args, desk)
    desk.look_again()
    counts = {"entries_before": before, "entries_after": _count(desk), "bytes_reclaimed": 0}
    return structs.replace(reply, data=reply.data | counts, always_json=True)


def _count(desk: Desk) -> int:
    with desk.world.journal.backend.read() as view:
        return view.count(0)
