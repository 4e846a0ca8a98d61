"""The end of a log, and then what is added to it; whoever starts the file anew or cuts it short is followed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

FIRST_READ = 1 << 18  # bytes, from the end; four times as many until there are enough lines
LONGEST_LINE = 1 << 20
T = TypeVar("T")


class Tail:
    """A file, read by whole lines: what has no end yet is held back until it has one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0
        self._open = b""
        self._file: tuple[int, int] | None = None  # which one it is, by the system's own numbers

    def ending(self, count: int, read: Callable[[bytes], list[T]]) -> list[T]:
        """The last so many things that `read` finds in its lines, however few lines say anything."""
        width = FIRST_READ
        while True:
            data, start = self._read(-width)
            first, *rest = data.split(b"\n")
            lines = rest if start else [first, *rest]  # the first one may have been cut in two
            found = [each for line in lines[:-1] for each in read(line)]
            if len(found) >= count or not start:
                self._open = lines[-1] if lines else b""
                return found[-count:] if count else []
            width *= 4

    def more(self) -> list[bytes]:
        """The whole lines that were added since."""
        data, start = self._read(self._at)
        if not start:
            self._open = b""
        *lines, self._open = (self._open + data).split(b"\n")
        if len(self._open) > LONGEST_LINE:
            lines, self._open = [*lines, self._open], b""
        return lines

    def rest(self) -> list[bytes]:
        """What was begun and will not be ended."""
        rest, self._open = self._open, b""
        return [rest] if rest else []

    def _read(self, start: int) -> tuple[bytes, int]:
        """From there (below zero: from the end) to the end, and where that was; all of it if it is another file now."""
        try:
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                is_new = (found.st_dev, found.st_ino) != self._file or found.st_size < self._at
                start = max(0, found.st_size + start) if start < 0 else 0 if is_new else start
                file.seek(start)
                data = file.read(found.st_size - start)
        except FileNotFoundError:
            return b"", self._at  # old logs are removed; what was read is read
        self._at, self._file = start + len(data), (found.st_dev, found.st_ino)
        return data, start
