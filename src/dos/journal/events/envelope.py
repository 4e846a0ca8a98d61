"""An event as the stores keep it, and the base class of the facts that it carries."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Self
from zlib import crc32

from msgspec import Struct, json

from dos.errors import JournalCorrupt

SCHEMA = 1  # of an event's body; adding a field does not raise it
_json = json.Decoder()


class Event(Struct, frozen=True, kw_only=True):
    """One stored event.

    `pos` is its position in the whole journal and `ver` its position in its stream. The body is
    kept encoded and is decoded on each access, so that no reader can change what is stored.
    """

    pos: int
    stream: str
    ver: int
    kind: str
    at_ms: int
    actor: str
    fence: int | None
    key: str | None
    schema: int
    raw: bytes

    @property
    def body(self) -> Any:
        """The body as plain JSON values, freshly decoded."""
        return _json.decode(self.raw)

    @property
    def at(self) -> datetime:
        """When it was recorded, by the wall clock of the store, in UTC."""
        return datetime.fromtimestamp(self.at_ms / 1000, UTC)

    def checksum(self) -> int:
        """Return the CRC of everything but the position, which the store assigns."""
        head = (
            self.stream,
            self.ver,
            self.kind,
            self.at_ms,
            self.actor,
            self.fence,
            self.key,
            self.schema,
        )
        return crc32(self.raw, crc32(repr(head).encode("utf-8", "surrogatepass")))

    def verified(self, stored: int) -> Self:
        """Return the event itself. Raises JournalCorrupt if its checksum is not the stored one."""
        if self.checksum() != stored:
            raise JournalCorrupt(
                f"event {self.pos} ({self.kind} on {self.stream}) is not what was written",
                hint="Run `dos journal check` to see all the damage.",
            )
        return self


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened: the body of an event, named in the past tense.

    `kind` is the name under which it is stored.
    """

    kind: ClassVar[str]
