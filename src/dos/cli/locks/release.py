"""Release the archive lock.

The lock of another owner is kept, with a warning; --force releases it all the same.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.locks.acquire import current_lock
from dos.errors import Conflict, Fenced
from dos.journal.store import Store
from dos.lanes.io.leases import LeaseRow
from dos.text import validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"released": 0, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """Who releases the lock."""

    owner: Annotated[str, Option(help="owner of the lock", positional=True, metavar="OWNER")]
    force: Annotated[bool, Option(help="release it for any owner")] = False


def run(args: Args, context: Context) -> Reply:
    """Release the lock if the owner holds it, or with --force if anyone does.

    No lock and the lock of another owner are not errors, because scripts release in any case.
    """
    owner = validated_name(args.owner, "owner")
    lock = current_lock(context.journal_world.journal)
    if lock is None:
        return Reply(
            text="released (no-lock)", data={"released": False, "owner": owner, "was": None}
        )
    holder = lock.lease.holder
    is_own = holder == owner
    kept = {"released": False, "owner": owner, "was": holder}
    if not is_own and not args.force:
        warning = f"warning: the lock is held by {holder!r}, not by {owner!r}: not released"
        return Reply(stderr=warning, data=kept)
    if not _release(context.journal, lock, is_own=is_own, reason=f"released by {owner}"):
        warning = "warning: the lock changed during the release: not released"
        return Reply(stderr=warning, data=kept)
    text = f"released {owner}" if is_own else f"force-released (was: {holder})"
    return Reply(text=text, data={"released": True, "owner": owner, "was": holder})


def _release(store: Store, lock: LeaseRow, *, is_own: bool, reason: str) -> bool:
    """Release or revoke the lock; False if it changed since it was read.

    After a restart of the machine a lease can no longer be released by its holder, only revoked.
    """
    try:
        if is_own and not lock.restarted:
            store.release(lock.lease.fence, reason)
        else:
            store.revoke(lock.lease.fence, version=lock.lease.version, reason=reason)
    except (Conflict, Fenced):
        return False
    return True
