"""The archive lock: a named lock in the journal, for whoever must be alone with the plans and the archive."""

from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.io import view
from dos.lanes.io.view import Row
from dos.lease import Lease, Refusal, Request
from dos.machine import process
from dos.regions import region

NAME = "archive"


def held(store: Store) -> Row | None:
    """Who has it, lapsed or not."""
    return next((row for row in view.rows(store, locks=True) if row.lease.lane == NAME), None)


def take(store: Store, owner: str, ttl_ms: int) -> Lease | Refusal:
    asked = Request(
        lane=NAME,
        holder=owner,
        host=process.host(),
        system=process.system(),
        ttl_ms=ttl_ms,
        region=region(()),
        kind="lock",
        is_lock=True,
    )
    return store.acquire(asked, admission.judge)
