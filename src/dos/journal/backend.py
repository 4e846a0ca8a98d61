"""What the journal asks of a backend, and the rules about rows that the backends share.

A backend only keeps rows. Memory, SQLite and PostgreSQL implement the protocols below and differ
in nothing that a caller of the store can see.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import DecodeError, Struct, json

from dos.errors import BadInput, JournalCorrupt, JournalTooNew
from dos.journal.events.envelope import SCHEMA, Event
from dos.lease import Lease
from dos.text import quote

_LONGEST_NAME = 1000  # bytes that an index of any backend can hold


class Entry(Struct, frozen=True, kw_only=True):
    """One event to append.

    `expect` is the version that the stream must have; with a `key` an append that was made before
    is found and not repeated; with a `fence` the lease must still be held.
    """

    stream: str
    kind: str
    body: Any
    expect: int | None = None
    key: str | None = None
    fence: int | None = None
    schema: int = SCHEMA
    at_ms: int | None = None  # when it happened, if not now: imported events keep their time

    def as_event(self, *, pos: int, ver: int, actor: str, raw: bytes, now_ms: int) -> Event:
        """Return the event to store: at its place, by its writer, with its body encoded."""
        at_ms = self.at_ms
        if at_ms is None:
            at_ms = now_ms
        return Event(
            pos=pos,
            stream=self.stream,
            ver=ver,
            kind=self.kind,
            at_ms=at_ms,
            actor=actor,
            fence=self.fence,
            key=self.key,
            schema=self.schema,
            raw=raw,
        )


class Prefetch(Struct, frozen=True, kw_only=True):
    """What a transaction is about to read.

    It is only a hint: a backend across a network fetches all of it in one round trip.
    """

    entries: Sequence[Entry] = ()
    streams: Sequence[str] = ()
    fences: Sequence[int] = ()
    leases: bool = False


NO_PREFETCH = Prefetch()


class DurabilityNote(Struct, frozen=True, kw_only=True):
    """A setting of a server that weakens the promise that an acknowledged event is never lost."""

    setting: str  # of the server
    text: str
    loses: bool = False  # acknowledged events can be lost by it


class ReadTransaction(Protocol):
    """One consistent view of the journal."""

    def wall_ms(self) -> int: ...
    def lease_ms(self) -> int: ...
    def boot(self) -> str: ...

    def last(self) -> int:
        """Return the position of the newest event; 0 in an empty journal."""
        ...

    def head(self, stream: str) -> int:
        """Return the version of a stream's newest event; 0 if it has none."""
        ...

    def fence_floor(self, stream: str) -> int:
        """Return the highest fence under which a stream was written; 0 if there was none."""
        ...

    def keyed(self, stream: str, key: str) -> Event | None:
        """Return the event of a stream that was appended with a key."""
        ...

    def load(self, stream: str, after: int, limit: int | None) -> list[Event]:
        """Return a stream's events with a version above `after`, in order."""
        ...

    def tail(self, after: int, limit: int) -> list[Event]:
        """Return the events of all streams with a position above `after`, in order."""
        ...

    def raw(self, after: int, limit: int) -> list[tuple[Event, int]]:
        """Return events as `tail` does, unverified, each with its stored checksum."""
        ...

    def count(self, after: int) -> int:
        """Return the number of events with a position above `after`."""
        ...

    def streams(self, prefix: str) -> list[str]:
        """Return the names of the streams that begin with a prefix, sorted."""
        ...

    def leases(self) -> list[Lease]:
        """Return all leases that were not ended, oldest first; lapsed ones are among them."""
        ...

    def lease(self, fence: int) -> Lease | None: ...

    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None:
        """Return the position and the bytes of a state's snapshot that this code made."""
        ...


class WriteTransaction(ReadTransaction, Protocol):
    """A view that can also change the journal. It is the only writer until it is committed."""

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event:
        """Append an event at a version of its stream and return it with its position."""
        ...

    def add_lease(self, lease: Lease) -> None: ...
    def update_lease(self, lease: Lease) -> None: ...
    def drop_lease(self, fence: int) -> None: ...
    def keep_snapshot(self, name: str, code: str, pos: int, state: bytes) -> None: ...

    def delete(self, positions: Sequence[int]) -> None:
        """Remove events; positions that are gone already are ignored."""
        ...


class Backend(Protocol):
    """Keeps the events, leases and snapshots of one workspace."""

    def read(self, *, once: bool = False) -> AbstractContextManager[ReadTransaction]:
        """Open a view. With `once` a single question is asked, so nothing is held open for more."""
        ...

    def write(self, prefetch: Prefetch = NO_PREFETCH) -> AbstractContextManager[WriteTransaction]:
        """Open a transaction that is committed at the end of the block, or rolled back."""
        ...

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Wait until there is an event above `after`; False when the time is over."""
        ...

    def close(self) -> None: ...


def encode_body(entry: Entry, actor: str) -> bytes:
    """Return the body as it is stored.

    Raises BadInput for names that some backend could not index, and for text that is not Unicode.
    """
    names = (
        ("stream", entry.stream),
        ("kind", entry.kind),
        ("key", entry.key or ""),
        ("actor", actor),
    )
    for what, name in names:
        if not _is_storable(name):
            raise BadInput(
                f"the {what} {quote(name)} cannot be stored",
                hint=f"Use at most {_LONGEST_NAME} printable bytes.",
            )
    try:
        return json.encode(entry.body)
    except UnicodeEncodeError as error:
        raise BadInput(
            f"a {entry.kind} for {entry.stream} holds text that is not Unicode: {error.reason}",
            hint="Decode what other programs wrote with errors='replace'.",
        ) from error


def _is_storable(name: str) -> bool:
    if "\0" in name:
        return False
    try:
        return len(name.encode()) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False


def require_known_schema(event: Event) -> Event:
    """Return the event itself. Raises JournalTooNew if a newer dos wrote it.

    Guessing what its fields mean would be worse than stopping.
    """
    if event.schema > SCHEMA:
        raise JournalTooNew(
            f"event {event.pos} has schema {event.schema}, and this dos reads up to {SCHEMA}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    return event


def live_leases(view: ReadTransaction, leases: Sequence[Lease] | None = None) -> list[Lease]:
    """Return the leases that have not lapsed, oldest first.

    `leases` are those of the same view, if they were read already.
    """
    if leases is None:
        leases = view.leases()
    now, boot = view.lease_ms(), view.boot()
    return [lease for lease in leases if not lease.has_lapsed(now, boot)]


COLUMNS = "pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, crc"
_lease_decoder = json.Decoder(Lease)
_SEE_DAMAGE = "Run `dos journal check` to see all the damage."


def decode_event(row: tuple[Any, ...]) -> Event:
    """Return the event of a row of `COLUMNS`. Raises JournalCorrupt if its checksum is wrong."""
    event, checksum = decode_unverified(row)
    try:
        return event.verified(checksum)
    except TypeError as error:  # a damaged row may hold a value of another type
        raise JournalCorrupt(
            f"event {event.pos} is not what was written", hint=_SEE_DAMAGE
        ) from error


def decode_unverified(row: tuple[Any, ...]) -> tuple[Event, int]:
    """Return the event of a row as it is stored, and the checksum beside it."""
    pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, checksum = row
    event = Event(
        pos=pos,
        stream=stream,
        ver=ver,
        kind=kind,
        at_ms=at_ms,
        actor=actor,
        fence=fence,
        key=key,
        schema=schema,
        raw=body,
    )
    return event, checksum


def decode_lease(fence: int, body: bytes) -> Lease:
    """Return the lease of a row. Raises JournalCorrupt if it cannot be decoded."""
    try:
        return _lease_decoder.decode(body)
    except DecodeError as error:
        raise JournalCorrupt(
            f"the lease with fence {fence} is not what was written: {error}", hint=_SEE_DAMAGE
        ) from error
