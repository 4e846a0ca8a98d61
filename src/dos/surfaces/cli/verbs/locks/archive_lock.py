"""The archive lock: a named lock in the journal, for whoever must be alone with the plans and the archive."""

from dos.journal.store import Store
from dos.records.leases import Lease, Refusal, Request
from dos.records.regions import region
from dos.sources import processes
from dos.verdicts.access import admission
from dos.views import leases
from dos.views.leases import Row

NAME = "archive"


def held(store: Store) -> Row | None:
    """Who has it, lapsed or not."""
    return next((row for row in leases.rows(store, locks=True) if row.lease.lane == NAME), None)


def take(store: Store, owner: str, ttl_ms: int) -> Lease | Refusal:
    asked = Request(
        lane=NAME,
        holder=owner,
        host=processes.host(),
        system=processes.system(),
        ttl_ms=ttl_ms,
        region=region(()),
        kind="lock",
        is_lock=True,
    )
    return store.acquire(asked, admission.judge)
