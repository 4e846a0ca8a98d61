"""The journal: append, read, and the leases that are granted in it. Every decision is one transaction.

The rules live here once. A backend only keeps rows: memory, SQLite and PostgreSQL differ in nothing a caller can see.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self

from msgspec import Struct, json, structs

from dos.errors import (
    BadInput,
    Conflict,
    Fenced,
    Internal,
    JournalTooNew,
    OutcomeUnknown,
    StoreFailed,
)
from dos.journal import streams
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
from dos.text import comparison_key, quote

Admit = Callable[[Request, Sequence[Lease]], Refusal | None]


class Entry(Struct, frozen=True, kw_only=True):
    """One record on its way in."""

    stream: str
    kind: str
    body: Any
    expect: int | None = None
    key: str | None = None
    fence: int | None = None
    schema: int = SCHEMA
    at_ms: int | None = (
        None  # when it happened, if that was not now: what is imported keeps its time
    )


class Prefetch(Struct, frozen=True, kw_only=True):
    """What a transaction is about to ask. Only a hint: a store across a network fetches all of it in one trip."""

    entries: Sequence[Entry] = ()
    streams: Sequence[str] = ()
    fences: Sequence[int] = ()
    leases: bool = False


NO_PREFETCH = Prefetch()


class Renewal(Struct, frozen=True, kw_only=True):
    kept: list[Lease]
    lost: list[int]


class DurabilityNote(Struct, frozen=True, kw_only=True):
    """Something about a server that weakens the promise that an acknowledged event is never lost."""

    setting: str  # of the server
    text: str
    loses: bool = False  # acknowledged events can be lost by it


class ReadTransaction(Protocol):
    """One consistent view."""

    def wall_ms(self) -> int: ...
    def lease_ms(self) -> int: ...
    def boot(self) -> str: ...
    def last(self) -> int: ...
    def head(self, stream: str) -> int: ...
    def fence_floor(self, stream: str) -> int: ...
    def keyed(self, stream: str, key: str) -> Event | None: ...
    def load(self, stream: str, after: int, limit: int | None) -> list[Event]: ...
    def tail(self, after: int, limit: int) -> list[Event]: ...
    def raw(
        self, after: int, limit: int
    ) -> list[tuple[Event, int]]: ...  # unverified, with the stored checksum
    def count(self, after: int) -> int: ...
    def streams(self, prefix: str) -> list[str]: ...
    def leases(self) -> list[Lease]: ...
    def lease(self, fence: int) -> Lease | None: ...
    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None: ...


class WriteTransaction(ReadTransaction, Protocol):
    """A view that also changes, alone in the workspace until it is committed."""

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event: ...
    def add_lease(self, lease: Lease) -> None: ...
    def update_lease(self, lease: Lease) -> None: ...
    def drop_lease(self, fence: int) -> None: ...
    def keep_snapshot(self, name: str, code: str, pos: int, state: bytes) -> None: ...
    def delete(self, positions: Sequence[int]) -> None: ...


class Backend(Protocol):
    def read(self, *, once: bool = False) -> AbstractContextManager[ReadTransaction]:
        """With `once` a single question is asked: then nothing need be held open for a second one."""
        ...

    def write(
        self, foreseen: Prefetch = NO_PREFETCH
    ) -> AbstractContextManager[WriteTransaction]: ...
    def wait(self, after: int, timeout_seconds: float) -> bool: ...
    def close(self) -> None: ...


class Store:
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
        self.backend.close()

    def for_thread(self) -> "Store":
        """The same store for another thread of this process: it opens no session, and closing it closes none."""
        return _Borrowed(self.backend, actor=self.actor)

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
        """Write one record; when this returns it survives a kill and a power cut."""
        entry = Entry(
            stream=stream, kind=kind, body=body, expect=expect, key=key, fence=fence, schema=schema
        )
        return self.append_all([entry])[0]

    def append_all(self, entries: Sequence[Entry]) -> list[Event]:
        """All of them, or none."""
        encoded = [encode_body(entry, self.actor) for entry in entries]
        try:
            return self._append_all(entries, encoded)
        except OutcomeUnknown as unknown:
            if any(entry.key is None for entry in entries):
                raise
            try:
                return self._append_all(
                    entries, encoded
                )  # where the first time succeeded, the keys find it
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
        return self.append(stream, fact.kind, fact, expect=expect, key=key, fence=fence)

    def load(self, stream: str, after: int = 0, limit: int | None = None) -> list[Event]:
        """A stream's events with a version above `after`, in order."""
        with self.backend.read(once=True) as tx:
            return [require_known_schema(event) for event in tx.load(stream, after, limit)]

    def load_fleet(self) -> list[Event]:
        """Return what people and the supervisors of all systems recorded about the fleet, in order."""
        with self.backend.read() as view:
            names = [streams.FLEET, *view.streams(streams.system.prefix)]
            events = [
                require_known_schema(event) for name in names for event in view.load(name, 0, None)
            ]
        return sorted(events, key=lambda event: event.pos)

    def tail(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """All streams' events with a position above `after`, in order."""
        with self.backend.read(once=True) as tx:
            return [require_known_schema(event) for event in tx.tail(after, limit)]

    def events(self, after: int = 0, page: int = 2000) -> Iterator[Event]:
        """Every event, a page at a time, so that a long journal never stands in memory."""
        while found := self.tail(after, page):
            yield from found
            after = found[-1].pos

    def last(self) -> int:
        """The position of the newest event; 0 in an empty journal."""
        with self.backend.read(once=True) as tx:
            return tx.last()

    def now_ms(self) -> int:
        """The wall clock by which events are dated."""
        with self.backend.read(once=True) as tx:
            return tx.wall_ms()

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Sleep until there is an event above `after`, or the time is over."""
        return self.backend.wait(after, timeout_seconds)

    # Leases

    def acquire(
        self, request: Request, admit: Admit, *, requested_lane: str = ""
    ) -> Lease | Refusal:
        """Grant what was asked, or say why not.

        A refusal is decided on a plain read: if the refused took the write lock too, they would starve the granted.
        """
        with self.backend.read(once=True) as view:
            if refusal := admit(request, live_leases(view)):
                return refusal
        stream = streams.lease(request.lane, is_lock=request.is_lock)
        with self.backend.write(Prefetch(streams=[stream], leases=True)) as tx:
            standing = live_leases(tx)
            if refusal := admit(request, standing):
                return refusal
            # Who lapsed and is not in the way may still come back, so it counts: or a budget could be overdrawn.
            for lapsed in reversed(tx.leases()):
                if not lapsed.has_lapsed(tx.lease_ms(), tx.boot()):
                    continue
                if admit(request, [*standing, lapsed]):
                    self._end(tx, lapsed, LeaseExpired(lease=lapsed.fence))
                else:
                    standing.append(lapsed)
            expires = tx.lease_ms() + request.ttl_ms
            fact = LeaseGranted(
                asked=request, boot=tx.boot(), expires_ms=expires, requested_lane=requested_lane
            )
            return self._begin(tx, request, fact, expires)

    def renew(self, fences: Sequence[int], *, coalesce_ms: int = 0) -> Renewal:
        """Put off the end of each lease by its time to live, in one transaction.

        A lease that lapsed and that nobody took is still its holder's; one that was taken is lost for good.
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
                    continue
                expires = tx.lease_ms() + lease.ttl_ms
                event = self._note(tx, lease, LeaseRenewed(lease=fence, expires_ms=expires))
                kept = structs.replace(
                    lease, expires_ms=expires, beat_ms=event.at_ms, version=event.ver
                )
                tx.update_lease(kept)
                renewal.kept.append(kept)
        return renewal

    def release(self, fence: int, reason: str = "") -> None:
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            self._end(tx, _held(tx, fence), LeaseReleased(lease=fence, reason=reason))

    def revoke(self, fence: int, *, version: int, reason: str) -> None:
        """Void somebody's lease, provided that it has not changed since it was judged."""
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            self._end(tx, _unchanged(tx, fence, version), LeaseRevoked(lease=fence, reason=reason))

    def adopt(self, fence: int, asked: Request, *, version: int) -> Lease:
        """Hand a lease to a new holder under a new fence; the old fence is void in the same transaction."""
        with self.backend.write(Prefetch(fences=[fence])) as tx:
            old = _unchanged(tx, fence, version)
            if _place(asked) != _place(old):
                raise Internal(
                    f"the lease with fence {fence} is for {old.lane!r}, and {asked.lane!r} was to adopt it"
                )
            tx.drop_lease(fence)
            expires = tx.lease_ms() + asked.ttl_ms
            fact = LeaseAdopted(asked=asked, boot=tx.boot(), expires_ms=expires, previous=old.fence)
            return self._begin(tx, asked, fact, expires)

    def leases(self, *, locks: bool = False, lapsed: bool = True) -> list[Lease]:
        """The leases that nobody has ended, oldest first."""
        with self.backend.read(once=True) as tx:
            found = tx.leases() if lapsed else live_leases(tx)
            return [lease for lease in found if lease.is_lock == locks]

    def lapsed(self, lease: Lease) -> bool:
        with self.backend.read(once=True) as tx:
            return lease.has_lapsed(tx.lease_ms(), tx.boot())

    # Within a transaction

    def _append_all(self, entries: Sequence[Entry], encoded: Sequence[bytes]) -> list[Event]:
        with self.backend.write(Prefetch(entries=entries)) as tx:
            return [
                self._append(tx, entry, raw) for entry, raw in zip(entries, encoded, strict=True)
            ]

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

    def _note(self, tx: WriteTransaction, lease: Request, fact: Fact) -> Event:
        entry = Entry(
            stream=streams.lease(lease.lane, is_lock=lease.is_lock), kind=fact.kind, body=fact
        )
        return self._append(tx, entry, json.encode(fact))

    def _begin(self, tx: WriteTransaction, asked: Request, fact: Fact, expires_ms: int) -> Lease:
        event = self._note(tx, asked, fact)
        lease = Lease(
            **structs.asdict(asked)
            | {
                "fence": event.pos,
                "boot": tx.boot(),
                "granted_ms": event.at_ms,
                "beat_ms": event.at_ms,
                "expires_ms": expires_ms,
                "version": event.ver,
            }
        )
        tx.add_lease(lease)
        return lease

    def _end(self, tx: WriteTransaction, lease: Lease, fact: Fact) -> None:
        self._note(tx, lease, fact)
        tx.drop_lease(lease.fence)

    def _still_fresh(self, fences: Sequence[int], coalesce_ms: int) -> Renewal | None:
        with self.backend.read(once=True) as tx:
            live = {lease.fence: lease for lease in live_leases(tx)}
            now = tx.lease_ms()
        found = [live[fence] for fence in fences if fence in live]
        kept = [lease for lease in found if now + lease.ttl_ms - lease.expires_ms < coalesce_ms]
        return Renewal(kept=kept, lost=[]) if len(kept) == len(fences) else None


class _Borrowed(Store):
    def close(self) -> None:
        """Whoever lent it closes it."""


_LONGEST = 1000  # bytes: what an index of any store can hold


def encode_body(entry: Entry, actor: str) -> bytes:
    """The body as it is stored, provided that every store could keep the record."""
    for what, text in (
        ("stream", entry.stream),
        ("kind", entry.kind),
        ("key", entry.key or ""),
        ("actor", actor),
    ):
        if "\0" in text or not _fits(text):
            raise BadInput(
                f"the {what} {quote(text)} cannot be stored",
                hint=f"Use at most {_LONGEST} printable bytes.",
            )
    try:
        return json.encode(entry.body)
    except UnicodeEncodeError as error:
        raise BadInput(
            f"a {entry.kind} for {entry.stream} holds text that is not Unicode: {error.reason}",
            hint="Decode what other programs wrote with errors='replace'.",
        ) from error


def _fits(text: str) -> bool:
    try:
        return len(text.encode()) <= _LONGEST
    except UnicodeEncodeError:
        return False


def _place(asked: Request) -> tuple[object, ...]:
    """What decides beside whom a lease can be."""
    return (
        comparison_key(asked.lane),
        asked.is_lock,
        asked.region.prefixes,
        asked.mode,
        asked.exclusive,
    )


def live_leases(tx: ReadTransaction, held: Sequence[Lease] | None = None) -> list[Lease]:
    """The leases whose time is not over, oldest first; of those held in this view, where they were read already."""
    leases = tx.leases() if held is None else held
    now, boot = tx.lease_ms(), tx.boot()
    return [lease for lease in leases if not lease.has_lapsed(now, boot)]


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


def require_known_schema(event: Event) -> Event:
    """The event itself, unless a newer `dos` wrote it: then guessing would be worse than stopping."""
    if event.schema > SCHEMA:
        raise JournalTooNew(
            f"event {event.pos} has schema {event.schema}, and this dos reads up to {SCHEMA}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    return event
