"""Events as lines of JSON text, and the archive file that pruned events are written to."""

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

# Characters that JSON may leave unescaped and that some programs take for the end of a line.
_SEPARATORS = {character: f"\\u{character:04x}" for character in (0x7F, 0x85, 0x2028, 0x2029)}
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)

PositiveInt = Annotated[int, Meta(ge=1, lt=1 << 62)]
NonEmpty = Annotated[str, Meta(min_length=1)]


class Line(Struct, kw_only=True):
    """An exported event. The field names are keys of `dos journal export` and `tail`."""

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
    """Return an event as one line of JSON, without the line end."""
    line = Line(
        pos=event.pos,
        stream=event.stream,
        ver=event.ver,
        kind=event.kind,
        at=format_time(event.at_ms),
        at_ms=event.at_ms,
        actor=event.actor,
        fence=event.fence,
        key=event.key,
        schema=event.schema,
        body=Raw(event.raw),
    )
    return escape_separators(json.encode(line))


def escape_separators(encoded: bytes) -> str:
    """Return encoded JSON as text that is one line to every program that reads it."""
    return encoded.decode().translate(_SEPARATORS)


def format_time(at_ms: int) -> str:
    """Return a time as RFC 3339 in UTC, with milliseconds."""
    seconds, milliseconds = divmod(at_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}Z"


def sync_directory(directory: Path) -> None:
    """Make the entries of a directory survive a power cut; syncing a new file alone does not."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Archive:
    """A new file of JSON lines. It and its directory are created by the first write."""

    def __init__(self, directory: Path, name: str) -> None:
        self.path = directory / name
        self.written = 0  # events so far

    def write(self, batch: Sequence[Event]) -> None:
        """Append events and sync the file and its directories.

        Raises StoreFull or StoreFailed; the events are then still in the journal, because they
        are removed only after this returns.
        """
        try:
            created_in = self._create_directory()
            self._append(batch)
            for directory in created_in:
                sync_directory(directory)
        except OSError as error:
            failure = StoreFull if error.errno in _DISK_FULL else StoreFailed
            raise failure(
                f"{self.path}: {error.strerror or error}",
                hint="The events that could not be archived were not removed. "
                "Name another directory with --archive.",
            ) from error
        self.written += len(batch)

    def _create_directory(self) -> set[Path]:
        """Create the directory, and return the directories whose entries have to be synced."""
        directory = self.path.parent
        missing = [path for path in (directory, *directory.parents) if not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        return {directory, *(path.parent for path in missing)}

    def _append(self, batch: Sequence[Event]) -> None:
        mode = "a" if self.written else "x"
        with self.path.open(mode, encoding="utf-8", newline="\n") as file:
            file.writelines(f"{format_line(event)}\n" for event in batch)
            file.flush()
            os.fsync(file.fileno())
