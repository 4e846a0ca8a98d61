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
        self._position = 0
        self._partial_line = b""
        self._file: tuple[int, int] | None = None  # which one it is, by the system's own numbers

    def last(self, count: int, read: Callable[[bytes], list[T]]) -> list[T]:
        """The last so many things that `read` finds in its lines, however few lines say anything."""
        width = FIRST_READ
        while True:
            data, start = self._read(-width)
            first, *rest = data.split(b"\n")
            lines = rest if start else [first, *rest]  # the first one may have been cut in two
            found = [each for line in lines[:-1] for each in read(line)]
            if len(found) >= count or not start:
                self._partial_line = lines[-1] if lines else b""
                return found[-count:] if count else []
            width *= 4

    def read_new_lines(self) -> list[bytes]:
        """The whole lines that were added since."""
        data, start = self._read(self._position)
        if not start:
            self._partial_line = b""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        if len(self._partial_line) > LONGEST_LINE:
            lines, self._partial_line = [*lines, self._partial_line], b""
        return lines

    def take_partial_line(self) -> list[bytes]:
        """What was begun and will not be ended."""
        rest, self._partial_line = self._partial_line, b""
        return [rest] if rest else []

    def _read(self, start: int) -> tuple[bytes, int]:
        """From there (below zero: from the end) to the end, and where that was; all of it if it is another file now."""
        try:
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                is_new = (
                    found.st_dev,
                    found.st_ino,
                ) != self._file or found.st_size < self._position
                start = max(0, found.st_size + start) if start < 0 else 0 if is_new else start
                file.seek(start)
                data = file.read(found.st_size - start)
        except FileNotFoundError:
            return b"", self._position  # old logs are removed; what was read is read
        self._position, self._file = start + len(data), (found.st_dev, found.st_ino)
        return data, start
