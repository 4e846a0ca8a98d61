"""Take the archive lock.

Its owner may take it again, which renews it. An expired lock is taken from its owner, and the
output says so.
"""

import time
from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.io.leases import LeaseRow, lease_rows
from dos.lease import Lease, Refusal, Request
from dos.machine import process
from dos.regions import region
from dos.text import validated_name
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

LOCK_NAME = "archive"
EXITS = {"acquired": 0, "busy": 1, "contract_error": 2, "lock-busy": 4}
LOOK_SECONDS = 0.5
LONGEST_TTL_SECONDS = 31_536_000


class Args(Struct, kw_only=True):
    """The owner, and how long to wait for the lock."""

    owner: Annotated[str, Option(help="owner of the lock", positional=True, metavar="OWNER")]
    retries: Annotated[
        int, Option(help="intervals to wait while another owner holds it", metavar="N")
    ] = 5
    retry_interval: Annotated[float, Option(help="length of an interval", metavar="SECONDS")] = 2.0
    ttl_seconds: Annotated[float, Option(help="lifetime of the lock", metavar="SECONDS")] = 300.0


def run(args: Args, context: Context) -> Reply:
    """Take the lock, waiting for its release if another owner holds it."""
    owner = validated_name(args.owner, "owner")
    if args.retries < 0 or args.retry_interval < 0:
        raise _bad_times()
    if not 0 < args.ttl_seconds <= LONGEST_TTL_SECONDS:
        raise _bad_times()
    store = context.journal
    deadline = time.monotonic() + args.retries * args.retry_interval
    while True:
        position = store.last()
        reply = _attempt(store, owner, int(args.ttl_seconds * 1000))
        seconds_left = deadline - time.monotonic()
        if reply.code == 0 or seconds_left <= 0:
            return reply
        # A release is an event and wakes this up; an expiry is not, hence LOOK_SECONDS.
        store.wait(position, min(seconds_left, args.retry_interval, LOOK_SECONDS))


def _bad_times() -> BadInput:
    """Return the error for numbers that make no sense as a time or a count."""
    return BadInput(
        "--retries and --retry-interval cannot be below 0, and --ttl-seconds must be above 0",
        hint="For example: dos lease acquire me --retries 5 --ttl-seconds 300",
    )


def current_lock(store: Store) -> LeaseRow | None:
    """Return the archive lock, expired or not; None if it is free."""
    for row in lease_rows(store, locks=True):
        if row.lease.lane == LOCK_NAME:
            return row
    return None


def take_lock(store: Store, owner: str, ttl_ms: int) -> Lease | Refusal:
    """Take the archive lock: a lease on a name, for callers that change plans and archive alone.

    It has no region, so it conflicts with no lane. Returns the refusal if another owner holds it.
    """
    request = Request(
        lane=LOCK_NAME,
        holder=owner,
        host=process.host(),
        system=process.system(),
        ttl_ms=ttl_ms,
        region=region(()),
        kind="lock",
        is_lock=True,
    )
    return store.acquire(request, admission.judge)


def _attempt(store: Store, owner: str, ttl_ms: int) -> Reply:
    """Renew or take the lock once. The texts are those of dos-kernel ≤ 0.30, which scripts read."""
    before = current_lock(store)
    is_own = before is not None and before.lease.holder == owner
    if before and is_own and store.renew([before.lease.fence]).kept:
        stamp = utc_stamp(before.lease.beat_ms)
        return _taken("re-entrant", f"re-entrant {owner} prev-acquired-at={stamp}", owner)
    result = take_lock(store, owner, ttl_ms)
    if isinstance(result, Refusal):
        return _busy(current_lock(store), result, owner)
    if before is not None and before.lapsed:
        age = f"age={before.age_seconds}s"
        return _taken("stole-stale", f"stole-stale {before.lease.holder} {age}", owner)
    return _taken("acquired", f"acquired {owner}", owner)


def _taken(outcome: str, text: str, owner: str) -> Reply:
    """Return the reply for a lock that the owner has now."""
    data = {"outcome": outcome, "owner": owner, "holder": owner, "text": text}
    return Reply(text=text, data=data)


def _busy(lock: LeaseRow | None, refusal: Refusal, owner: str) -> Reply:
    """Return the reply for a lock that another owner holds, or that the journal refused."""
    holder = None
    text = f"busy {refusal.detail}"
    if lock is not None:
        holder = lock.lease.holder
        text = f"busy {holder} age={lock.age_seconds}s"
    data = {"outcome": "busy", "owner": owner, "holder": holder, "text": text}
    return Reply(code=1, stderr=text, data=data)
