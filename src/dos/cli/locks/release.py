"""Release the archive lock.

The lock of another owner is kept, with a warning; --force releases it all the same.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.locks import acquire
from dos.errors import Conflict, Fenced
from dos.journal.store import Store
from dos.lanes.io.leases import LeaseRow
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"released": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    owner: Annotated[str, Option(help="who has it", positional=True, metavar="OWNER")]
    force: Annotated[bool, Option(help="whoever has it")] = False


def run(args: Args, context: Context) -> Reply:
    owner = validated_name(args.owner, "owner")
    held = acquire.current_lock(context.journal_world.journal)
    if held is None:
        return Reply(
            text="released (no-lock)", data={"released": False, "owner": owner, "was": None}
        )
    holder = held.lease.holder
    if holder != owner and not args.force:
        return Reply(
            stderr=f"warning: the lock is held by {holder!r}, not by {owner!r}: left as it is",
            data={"released": False, "owner": owner, "was": holder},
        )
    if not _end(context.journal, held, own=holder == owner, reason=f"released by {owner}"):
        return Reply(
            stderr="warning: the lock changed while it was looked at: left as it is",
            data={"released": False, "owner": owner, "was": holder},
        )
    text = f"released {owner}" if holder == owner else f"force-released (was: {holder})"
    return Reply(text=text, data={"released": True, "owner": owner, "was": holder})


def _end(store: Store, held: LeaseRow, *, own: bool, reason: str) -> bool:
    try:
        if own and not held.restarted:
            store.release(held.lease.fence, reason)
        else:
            store.revoke(held.lease.fence, version=held.lease.version, reason=reason)
    except (Conflict, Fenced):
        return False
    return True
