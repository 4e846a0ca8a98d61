"""Reads the end of a log and what is added to it, also after the file was replaced or truncated."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

FIRST_READ = 1 << 18  # bytes from the end; four times as many until there are enough lines
LONGEST_LINE = 1 << 20
T = TypeVar("T")


class Tail:
    """A file that is read by whole lines: a line without an end is kept until it has one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        self._partial_line = b""
        self._file: tuple[int, int] | None = None  # device and inode of what was read

    def last(self, count: int, read: Callable[[bytes], list[T]]) -> list[T]:
        """Return the last `count` items that `read` makes of the lines.

        Reads more and more of the file until there are enough: most lines may give no item.
        """
        width = FIRST_READ
        while True:
            data, start = self._read(-width)
            lines = data.split(b"\n")
            if start:
                del lines[0]  # it may be cut in two
            items = [item for line in lines[:-1] for item in read(line)]
            if len(items) >= count or not start:
                self._partial_line = lines[-1] if lines else b""
                if count:
                    return items[-count:]
                return []
            width *= 4

    def read_new_lines(self) -> list[bytes]:
        """Return the whole lines that were added since the last read."""
        data, start = self._read(self._position)
        if not start:
            self._partial_line = b""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        if len(self._partial_line) > LONGEST_LINE:
            lines.append(self._partial_line)
            self._partial_line = b""
        return lines

    def take_partial_line(self) -> list[bytes]:
        """Return the line that has no end, if there is one, once nothing more is written."""
        partial = self._partial_line
        self._partial_line = b""
        if partial:
            return [partial]
        return []

    def _read(self, start: int) -> tuple[bytes, int]:
        """Read from a position to the end; return the data and where it began.

        A position below zero counts from the end. Another file, or a shorter one, is read whole.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                is_new = identity != self._file or status.st_size < self._position
                if start < 0:
                    start = max(0, status.st_size + start)
                elif is_new:
                    start = 0
                file.seek(start)
                data = file.read(status.st_size - start)
        except FileNotFoundError:
            return b"", self._position  # old logs are removed
        self._position = start + len(data)
        self._file = identity
        return data, start
