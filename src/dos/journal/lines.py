"""Events as lines of JSON text: written to exports and archives, read back from files to import."""

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, json

from dos.errors import BadInput, StoreFailed, StoreFull
from dos.journal.events.envelope import Event
from dos.machine.filesystem import sync_directory
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


LONGEST_LINE = 4 << 20
LARGEST_FILE = 1 << 30
DEEPEST = 100  # levels of nesting
_START_BYTES = 8192
_GIVE_A_FILE = "Give the path of a file of JSON lines."


def read_lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the lines that are not blank, each with its number and whether it is the last.

    Raises BadInput for a file that cannot be read, is too large, or is no text.
    """
    before: tuple[int, bytes] | None = None
    try:
        _check_file(path)
        with path.open("rb") as file:
            lines = iter(lambda: file.readline(LONGEST_LINE + 1), b"")
            for number, raw in enumerate(lines, start=1):
                if len(raw) > LONGEST_LINE:
                    raise BadInput(
                        f"{path}:{number}: the line is longer than {LONGEST_LINE} bytes",
                        hint="Is this a journal? Each of its lines is one small JSON object.",
                    )
                if not raw.strip():
                    continue
                if before:
                    yield *before, False
                before = (number, raw)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}", hint=_GIVE_A_FILE) from error
    if before:
        yield *before, True


def _check_file(path: Path) -> None:
    size = path.stat().st_size
    if not path.is_file():
        raise BadInput(f"{path} is not a file", hint=_GIVE_A_FILE)
    if size > LARGEST_FILE:
        raise BadInput(
            f"{path} has {size} bytes, and at most {LARGEST_FILE} are imported",
            hint="Split it at line ends and import the parts in order.",
        )
    with path.open("rb") as file:
        start = file.read(_START_BYTES)
    if b"\0" not in start:
        return
    # Zeros alone prove nothing: a power cut leaves them at the end of a good log.
    first_line = start.split(b"\n", 1)[0].decode("utf-8", "replace")
    if not isinstance(parse_json(first_line), dict):
        raise BadInput(f"{path} is not a text file", hint=_GIVE_A_FILE)


def parse_json(text: str) -> Any:
    """Return the value of a line of JSON.

    UNSET when it is not JSON, or nested so deeply that a later reader could fail on it.
    """
    try:
        value = json.decode(text)
    except (ValueError, RecursionError):
        return UNSET
    if _is_too_deep(value):
        return UNSET
    return value


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for outer in level:
            inner += _children(outer)
        level = inner
    return bool(level)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return value
    return ()
