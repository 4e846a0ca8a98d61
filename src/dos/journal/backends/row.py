"""What both databases keep, read back: a row that is not what was written is found here, whichever store it lay in."""

from typing import Any

from msgspec import DecodeError, json

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event
from dos.lease import Lease

COLUMNS = "pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, crc"
_lease = json.Decoder(Lease)
_LOOK = "Run `dos journal check` to see all the damage."


def event(row: tuple[Any, ...]) -> Event:
    found, crc = unverified(row)
    try:
        return found.verified(crc)
    except TypeError as error:  # a damaged row may hold a value of another type
        raise JournalCorrupt(f"event {found.pos} is not what was written", hint=_LOOK) from error


def unverified(row: tuple[Any, ...]) -> tuple[Event, int]:
    """The event as it lies there, and the checksum beside it."""
    pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, crc = row
    return Event(
        pos=pos, stream=stream, ver=ver, kind=kind, at_ms=at_ms, actor=actor,
        fence=fence, key=key, schema=schema, raw=body,
    ), crc  # fmt: skip


def lease(fence: int, body: bytes) -> Lease:
    try:
        return _lease.decode(body)
    except DecodeError as error:
        raise JournalCorrupt(
            f"the lease with fence {fence} is not what was written: {error}", hint=_LOOK
        ) from error
