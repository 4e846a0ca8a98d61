"""Prune the journal, with the output of dos-kernel ≤ 0.30.

Like `dos journal prune`. The file does not shrink: its free pages are used again for new events.
"""

from msgspec import structs

from dos.cli.journal import prune
from dos.cli.journal.prune import Args
from dos.verbs.context import Context, Reply

EXITS = {"pruned": 0, "contract_error": 2, "lock-busy": 4}


def run(args: Args, context: Context) -> Reply:
    before = _count(context)
    reply = prune.run(args, context)
    context.reload()  # so that the events are counted in the journal as it is now
    counts = {"entries_before": before, "entries_after": _count(context), "bytes_reclaimed": 0}
    return structs.replace(reply, data=reply.data | counts, always_json=True)


def _count(context: Context) -> int:
    with context.world.journal.backend.read() as view:
        return view.count(0)
