"""An event as it is stored, and the fact that it carries."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Self
from zlib import crc32

from msgspec import Struct, json

from dos.errors import JournalCorrupt

SCHEMA = 1  # of a record's body; additive fields do not raise it
_json = json.Decoder()


class Event(Struct, frozen=True, kw_only=True):
    """One stored record. The body is decoded anew on every access, so nobody can change what is stored."""

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
        return _json.decode(self.raw)

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.at_ms / 1000, UTC)

    def checksum(self) -> int:
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
        if self.checksum() != stored:
            raise JournalCorrupt(
                f"event {self.pos} ({self.kind} on {self.stream}) is not what was written",
                hint="Run `dos journal check` to see all the damage.",
            )
        return self


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened, in the past tense."""

    kind: ClassVar[str]
