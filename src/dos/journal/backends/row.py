"""Rows of both databases, decoded. A row that is not what was written is detected here."""

from typing import Any

from msgspec import DecodeError, json

from dos.errors import JournalCorrupt
from dos.journal.events.envelope import Event
from dos.lease import Lease

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
