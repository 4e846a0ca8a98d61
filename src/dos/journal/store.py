"""The journal: appending and reading events, and the leases that are granted in it.

The rules are here, once for all backends. Every decision is made in one transaction.
"""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from msgspec import Struct, json, structs

from dos.errors import Conflict, Fenced, Internal, OutcomeUnknown, StoreFailed
from dos.journal import streams
from dos.journal.backend import (
    Backend,
    Entry,
    Prefetch,
    ReadTransaction,
    WriteTransaction,
    encode_body,
    live_leases,
    require_known_schema,
)
from dos.journal.events.envelope import SCHEMA, Event, Fact
from dos.journal.events.lanes import (
    LeaseAdopted,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    LeaseRevoked,
)
from dos.lease import Lease, Refusal, Request
from dos.text import comparison_key

# Decides whether a request can be granted beside the leases that are held; None: it can.
Admit = Callable[[Request, Sequence[Lease]], Refusal | None]


class Renewal(Struct, frozen=True, kw_only=True):
    """The leases that were renewed, and the fences whose lease is lost for good."""

    kept: list[Lease]
    lost: list[int]


class Store:
    """The journal of one workspace, on any backend. `actor` is recorded with each event."""

    def __init__(self, backend: Backend, *, actor: str = "") -> None:
        self.backend = backend
        self.actor = actor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the backend's connections. What was acknowledged is safe without it."""
        self.backend.close()

    def for_thread(self) -> "Store":
        """Return this store for another thread: it opens no session, and closing it closes none."""
        return _ThreadStore(self.backend, actor=self.actor)

    def for_actor(self, actor: str) -> "Store":
        """Return this store for what another one does; closing it closes nothing."""
        return _ThreadStore(self.backend, actor=actor)

    # Events

    def append(
        self,
        stream: str,
        kind: str,
        body: Any,
        *,
        expect: int | None = None,
        key: str | None = None,
        fence: int | None = None,
        schema: int = SCHEMA,
    ) -> Event:
        """Append one event; when this returns, it survives a kill and a power cut.

        Raises Conflict if the stream is not at the version `expect`, and Fenced if the lease of
        `fence` is no longer held. With a `key` that was used before, returns the first event.
        """
        entry = Entry(
            stream=stream, kind=kind, body=body, expect=expect, key=key, fence=fence, schema=schema
        )
        return self.append_all([entry])[0]

    def append_all(self, entries: Sequence[Entry]) -> list[Event]:
        """Append all entries in one transaction, or none of them. Raises as `append` does.

        When a commit's outcome is unknown and every entry has a key, it is tried once more: the
        keys find what was written the first time.
        """
        bodies = [encode_body(entry, self.actor) for entry in entries]
        try:
            return self._append_all(entries, bodies)
        except OutcomeUnknown as unknown:
            if any(entry.key is None for entry in entries):
                raise
            try:
                return self._append_all(entries, bodies)
            except StoreFailed as failed:
                raise unknown from failed

    def record(
        self,
        stream: str,
        fact: Fact,
        *,
        expect: int | None = None,
        key: str | None = None,
        fence: int | None = None,
    ) -> Event:
        """Append a typed fact under its own kind. Raises as `append` does."""
        return self.append(stream, fact.kind, fact, expect=expect, key=key, fence=fence)

    def load(self, stream: str, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return a stream's events with a version above `after`, in order."""
        with self.backend.read(once=True) as view:
            return [require_known_schema(event) for event in view.load(stream, after, limit)]

    def newest(self, stream: str, most: int) -> list[Event]:
        """Return the newest events of a stream, oldest first, at most so many."""
        with self.backend.read() as view:
            after = max(0, view.head(stream) - most)
            return [require_known_schema(event) for event in view.load(stream, after, most)]

    def load_fleet(self) -> list[Event]:
        """Return what people and the supervisors of all systems recorded about the fleet."""
        events: list[Event] = []
        with self.backend.read() as view:
            for name in [streams.FLEET, *view.streams(streams.system.prefix)]:
                events += map(require_known_schema, view.load(name, 0, None))
        return sorted(events, key=lambda event: event.pos)

    def tail(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """Return the events of all streams with a position above `after`, in order."""
        with self.backend.read(once=True) as view:
            return [require_known_schema(event) for event in view.tail(after, limit)]

    def events(self, after: int = 0, page: int = 2000) -> Iterator[Event]:
        """Yield every event, read a page at a time, so that memory stays small."""
        while batch := self.tail(after, page):
            yield from batch
            after = batch[-1].pos

    def last(self) -> int:
        """Return the position of the newest event; 0 in an empty journal."""
        with self.backend.read(once=True) as view:
            return view.last()

    def now_ms(self) -> int:
        """Return the wall clock by which events are dated."""
        with self.backend.read(once=True) as view:
            return view.wall_ms()

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Wait until there is an event above `after`; False when the time is over."""
        return self.backend.wait(after, timeout_seconds)

    # Leases

    def acquire(
        self, request: Request, admit: Admit, *, requested_lane: str = ""
    ) -> Lease | Refusal:
        """Grant a lease and record it, or return the refusal of `admit`.

        A refusal is decided on a plain read first. If refused requests took the write lock too,
        they would starve those that can be granted.
        """
        with self.backend.read(once=True) as view:
            if refusal := admit(request, live_leases(view)):
                return refusal
        stream = streams.lease(request.lane, is_lock=request.is_lock)
        with self.backend.write(Prefetch(streams=[stream], leases=True)) as tx:
            held = live_leases(tx)
            if refusal := admit(request, held):
                return refusal
            self._expire_blocking(tx, request, admit, held)
            expires_ms = tx.lease_ms() + request.ttl_ms
            fact = LeaseGranted(
                asked=request,
                boot=tx.boot(),
                expires_ms=expires_ms,
                requested_lane=requested_lane,
            )
            return self._begin(tx, request, fact, expires_ms)

    def renew(self, fences: Sequence[int], *, coalesce_ms: int = 0) -> Renewal:
        """Postpone the end of each lease by its time to live, in one transaction.

        A lease that lapsed is still its holder's until another request takes its place; after
        that it is lost. With `coalesce_ms` nothing is written while all leases were renewed
        within that time.
        """
        renewal = Renewal(kept=[], lost=[])
        if not fences:
            return renewal
        if coalesce_ms and (fresh := self._still_fresh(fences, coalesce_ms)):
            return fresh
        with self.backend.write(Prefetch(fences=fences)) as tx:
            for fence in fences:
                lease = tx.lease(fence)
                if lease is None or lease.boot != tx.boot():
                    renewal.lost.append(fence)
                else:
                    renewal.kept.append(self._renew(tx, lease))
        return renewal

    def release(self, fence: int, reason: str = "") -> None:
        """End a lease that its holder gives back. Raises Fenced if it is not held any more."""
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            self._end(tx, _held(tx, fence), LeaseReleased(lease=fence, reason=reason))

    def revoke(self, fence: int, *, version: int, reason: str) -> None:
        """Void the lease of another holder.

        Raises Conflict if the lease has changed since `version`: then its holder is alive.
        """
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            lease = _unchanged(tx, fence, version)
            self._end(tx, lease, LeaseRevoked(lease=fence, reason=reason))

    def adopt(self, fence: int, request: Request, *, version: int) -> Lease:
        """Give a lease to a new holder under a new fence, and void the old fence.

        Raises Conflict if the lease has changed since `version`.
        """
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            old = _unchanged(tx, fence, version)
            if _exclusion_key(request) != _exclusion_key(old):
                raise Internal(
                    f"the lease with fence {fence} is for {old.lane!r},"
                    f" and {request.lane!r} was to adopt it"
                )
            tx.drop_lease(fence)
            expires_ms = tx.lease_ms() + request.ttl_ms
            fact = LeaseAdopted(
                asked=request, boot=tx.boot(), expires_ms=expires_ms, previous=old.fence
            )
            return self._begin(tx, request, fact, expires_ms)

    def leases(self, *, locks: bool = False, lapsed: bool = True) -> list[Lease]:
        """Return the leases of lanes, or of locks, that were not ended, oldest first."""
        with self.backend.read(once=True) as view:
            leases = view.leases() if lapsed else live_leases(view)
        return [lease for lease in leases if lease.is_lock == locks]

    def lapsed(self, lease: Lease) -> bool:
        """Whether a lease's time is over by the clock of the store."""
        with self.backend.read(once=True) as view:
            return lease.has_lapsed(view.lease_ms(), view.boot())

    # Within a transaction

    def _append_all(self, entries: Sequence[Entry], bodies: Sequence[bytes]) -> list[Event]:
        with self.backend.write(Prefetch(entries=entries)) as tx:
            pairs = zip(entries, bodies, strict=True)
            return [self._append(tx, entry, body) for entry, body in pairs]

    def _append(self, tx: WriteTransaction, entry: Entry, raw: bytes) -> Event:
        if entry.key is not None and (first := tx.keyed(entry.stream, entry.key)):
            return first
        if entry.fence is not None:
            _held(tx, entry.fence)
            if entry.fence < tx.fence_floor(entry.stream):
                raise Fenced(
                    f"stream {entry.stream!r} was written under a newer fence than {entry.fence}"
                )
        head = tx.head(entry.stream)
        if entry.expect is not None and entry.expect != head:
            raise Conflict(f"stream {entry.stream!r} is at version {head}, not at {entry.expect}")
        return tx.insert(entry, head + 1, self.actor, raw)

    def _record_lease(self, tx: WriteTransaction, lease: Request, fact: Fact) -> Event:
        stream = streams.lease(lease.lane, is_lock=lease.is_lock)
        entry = Entry(stream=stream, kind=fact.kind, body=fact)
        return self._append(tx, entry, json.encode(fact))

    def _expire_blocking(
        self, tx: WriteTransaction, request: Request, admit: Admit, held: Sequence[Lease]
    ) -> None:
        """End the lapsed leases that block a request, the newest first.

        A lapsed lease that blocks nothing is left: its holder may still renew it, so it counts
        against budgets.
        """
        counted = list(held)
        for lease in reversed(tx.leases()):
            if not lease.has_lapsed(tx.lease_ms(), tx.boot()):
                continue
            if admit(request, [*counted, lease]):
                self._end(tx, lease, LeaseExpired(lease=lease.fence))
            else:
                counted.append(lease)

    def _begin(self, tx: WriteTransaction, request: Request, fact: Fact, expires_ms: int) -> Lease:
        event = self._record_lease(tx, request, fact)
        # A dict first: an adopted lease may be passed as the request and has these fields already.
        fields = structs.asdict(request) | {
            "fence": event.pos,
            "boot": tx.boot(),
            "granted_ms": event.at_ms,
            "beat_ms": event.at_ms,
            "expires_ms": expires_ms,
            "version": event.ver,
        }
        lease = Lease(**fields)
        tx.add_lease(lease)
        return lease

    def _renew(self, tx: WriteTransaction, lease: Lease) -> Lease:
        expires_ms = tx.lease_ms() + lease.ttl_ms
        event = self._record_lease(
            tx, lease, LeaseRenewed(lease=lease.fence, expires_ms=expires_ms)
        )
        renewed = structs.replace(
            lease, expires_ms=expires_ms, beat_ms=event.at_ms, version=event.ver
        )
        tx.update_lease(renewed)
        return renewed

    def _end(self, tx: WriteTransaction, lease: Lease, fact: Fact) -> None:
        self._record_lease(tx, lease, fact)
        tx.drop_lease(lease.fence)

    def _still_fresh(self, fences: Sequence[int], coalesce_ms: int) -> Renewal | None:
        """Return the leases if all of them were renewed within `coalesce_ms`, else None."""
        with self.backend.read(once=True) as view:
            live = {lease.fence: lease for lease in live_leases(view)}
            now_ms = view.lease_ms()
        fresh: list[Lease] = []
        for fence in fences:
            lease = live.get(fence)
            if lease is None or now_ms + lease.ttl_ms - lease.expires_ms >= coalesce_ms:
                return None
            fresh.append(lease)
        return Renewal(kept=fresh, lost=[])


class _ThreadStore(Store):
    def close(self) -> None:
        """Close nothing: the store that this one was made from owns the backend."""


def _exclusion_key(request: Request) -> tuple[object, ...]:
    """Return the fields that decide which leases can be held beside this one."""
    return (
        comparison_key(request.lane),
        request.is_lock,
        request.region.prefixes,
        request.mode,
        request.exclusive,
    )


def _held(tx: ReadTransaction, fence: int) -> Lease:
    lease = tx.lease(fence)
    if lease is None or lease.boot != tx.boot():
        raise Fenced(
            f"the lease with fence {fence} is gone: it was released, revoked or taken over",
            hint="Stop working under it; `dos lease-lane live` shows who holds what.",
        )
    return lease


def _unchanged(tx: ReadTransaction, fence: int, version: int) -> Lease:
    lease = tx.lease(fence)
    if lease is None:
        raise Conflict(f"there is no lease with fence {fence} any more")
    if lease.version != version:
        raise Conflict(
            f"the lease with fence {fence} has changed since it was looked at: its holder is alive"
        )
    return lease
