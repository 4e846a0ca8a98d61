"""An event as one line of JSON text, as it is exported and archived."""

import errno
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct, json

from dos.errors import StoreFailed, StoreFull
from dos.journal.events.envelope import Event
from dos.times import YEAR_10000_MS

# The characters JSON may leave bare and at which some reader ends a line.
_SEPARATORS = {character: f"\\u{character:04x}" for character in (0x7F, 0x85, 0x2028, 0x2029)}


PositiveInt = Annotated[int, Meta(ge=1, lt=1 << 62)]
NonEmpty = Annotated[str, Meta(min_length=1)]


class Line(Struct, kw_only=True):
    pos: PositiveInt
    stream: NonEmpty
    ver: PositiveInt
    kind: NonEmpty
    at: str
    at_ms: Annotated[int, Meta(ge=0, lt=YEAR_10000_MS)]
    actor: str
    fence: PositiveInt | None
    key: str | None
    schema: PositiveInt
    body: Any


def format_line(event: Event) -> str:
    """One line, its end not included."""
    line = Line(
        pos=event.pos, stream=event.stream, ver=event.ver, kind=event.kind, at=format_time(event.at_ms), at_ms=event.at_ms,
        actor=event.actor, fence=event.fence, key=event.key, schema=event.schema, body=Raw(event.raw),
    )  # fmt: skip
    return escape_separators(json.encode(line))


def escape_separators(encoded: bytes) -> str:
    """JSON text that is one line for every reader."""
    return encoded.decode().translate(_SEPARATORS)


def format_time(at_ms: int) -> str:
    seconds, thousandths = divmod(at_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{thousandths:03d}Z"


def sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Archive:
    """A new file in a directory; neither is made before there is something to write."""

    def __init__(self, directory: Path, name: str) -> None:
        self.path = directory / name
        self.written = 0

    def write(self, batch: Sequence[Event]) -> None:
        try:
            directory = self.path.parent
            missing = [each for each in (directory, *directory.parents) if not each.exists()]
            directory.mkdir(parents=True, exist_ok=True)
            with self.path.open(
                "a" if self.written else "x", encoding="utf-8", newline="\n"
            ) as file:
                file.writelines(f"{format_line(event)}\n" for event in batch)
                file.flush()
                os.fsync(file.fileno())
            for each in {directory, *(made.parent for made in missing)}:
                sync_directory(each)
        except OSError as error:
            failure = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreFailed
            raise failure(
                f"{self.path}: {error.strerror or error}",
                hint="What could not be archived was not removed; give another directory.",
            ) from error
        self.written += len(batch)
