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
from dos.lanes.io import leases
from dos.lanes.io.leases import LeaseRow
from dos.lease import Lease, Refusal, Request
from dos.machine import process
from dos.regions import region
from dos.text import validated_name
from dos.times import utc_stamp
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

NAME = "archive"


def current_lock(store: Store) -> LeaseRow | None:
    """Who has it, lapsed or not."""
    return next(
        (row for row in leases.lease_rows(store, locks=True) if row.lease.lane == NAME), None
    )


def take_lock(store: Store, owner: str, ttl_ms: int) -> Lease | Refusal:
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


EXITS = {"acquired": 0, "busy": 1, "contract_error": 2, "lock-busy": 4}
LOOK_SECONDS = 0.5
LONGEST_TTL_SECONDS = 31_536_000


class Args(Struct, kw_only=True):
    owner: Annotated[str, Option(help="who takes it", positional=True, metavar="OWNER")]
    retries: Annotated[
        int, Option(help="how many intervals to wait while another has it", metavar="N")
    ] = 5
    retry_interval: Annotated[float, Option(help="how long each of them is", metavar="SECONDS")] = (
        2.0
    )
    ttl_seconds: Annotated[float, Option(help="how long it lasts", metavar="SECONDS")] = 300.0


def run(args: Args, context: Context) -> Reply:
    owner = validated_name(args.owner, "owner")
    if (
        args.retries < 0
        or args.retry_interval < 0
        or not 0 < args.ttl_seconds <= LONGEST_TTL_SECONDS
    ):
        raise BadInput(
            "--retries and --retry-interval cannot be below 0, and --ttl-seconds must be above",
            hint="For example: dos lease acquire me --retries 5 --ttl-seconds 300",
        )
    store, deadline = context.journal, time.monotonic() + args.retries * args.retry_interval
    while True:
        after = store.last()
        reply = _attempt(store, owner, int(args.ttl_seconds * 1000))
        left = deadline - time.monotonic()
        if reply.code == 0 or left <= 0:
            return reply
        # Something happening may be its release; its end by time is no event.
        store.wait(after, min(left, args.retry_interval, LOOK_SECONDS))


def _attempt(store: Store, owner: str, ttl_ms: int) -> Reply:
    before = current_lock(store)
    if before and before.lease.holder == owner and store.renew([before.lease.fence]).kept:
        stamp = utc_stamp(before.lease.beat_ms)
        return _reply(
            "re-entrant", f"re-entrant {owner} prev-acquired-at={stamp}", before, owner=owner
        )
    taken = take_lock(store, owner, ttl_ms)
    if isinstance(taken, Lease):
        stolen = before is not None and before.lapsed
        was = (
            f"stole-stale {before.lease.holder} age={before.age_seconds}s"
            if before and stolen
            else ""
        )
        return _reply(
            "stole-stale" if stolen else "acquired", was or f"acquired {owner}", before, owner=owner
        )
    holder = current_lock(store)
    text = (
        f"busy {holder.lease.holder} age={holder.age_seconds}s"
        if holder
        else f"busy {taken.detail}"
    )
    return _reply("busy", text, holder, owner=owner)


def _reply(outcome: str, text: str, holder: LeaseRow | None, *, owner: str) -> Reply:
    busy = outcome == "busy"
    was = holder.lease.holder if holder else None
    return Reply(
        code=int(busy),
        text="" if busy else text,
        stderr=text if busy else "",
        data={"outcome": outcome, "owner": owner, "holder": was if busy else owner, "text": text},
    )
