"""The streams of a running program: its input, its output in lines, and the log of its output."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

LINGER_SECONDS = 1.0  # for what is still in the pipe when the program has ended
LINES_KEPT = 20_000
LONGEST_LINE = 1_000_000  # of a longer one the beginning and the end are kept
OLDER = ".older"  # in the name of the older half of a log
LARGEST_LOG = 64_000_000  # both halves together
MOST_UNREAD = 4_000_000  # bytes that a program may leave unread of its input


class ProgramInput:
    """The standard input of a program, to which lines can be sent while it runs.

    A thread writes them, so that sending never waits for a program that does not read. Of one that
    leaves too much unread the input ends.
    """

    def __init__(self, text: str = "", *, stays_open: bool = False) -> None:
        """`text` is sent first. Unless it `stays_open`, the input ends after it."""
        self._pieces: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unread = 0
        self._is_closed = False
        self._put(text.encode())
        if not stays_open:
            self.close()

    def send(self, line: str) -> bool:
        """Send one line; False where the input has ended, or ends now because of what is unread."""
        return self._put(f"{line}\n".encode())

    def close(self) -> None:
        """End the input after what was sent."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._pieces.put(None)

    def feed(self, pipe: IO[bytes]) -> None:
        """Write to the program what is sent, from a thread of its own."""
        threading.Thread(target=self._write, args=(pipe,), daemon=True).start()

    def _put(self, piece: bytes) -> bool:
        with self._lock:
            if self._is_closed:
                return False
            self._unread += len(piece)
            if self._unread > MOST_UNREAD and len(piece) < self._unread:
                self._is_closed = True
                self._pieces.put(None)
                return False
            self._pieces.put(piece)
            return True

    def _write(self, pipe: IO[bytes]) -> None:
        """Write until the input ends. The program may end without reading all of it."""
        with suppress(BrokenPipeError), pipe:
            while (piece := self._pieces.get()) is not None:
                pipe.write(piece)
                pipe.flush()
                with self._lock:
                    self._unread -= len(piece)


class Log:
    """The newest part of the output: a full file is moved aside, and a new one is begun."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._aside = path.with_name(f"{path.stem}{OLDER}{path.suffix}")
        self._file: IO[bytes] | None = path.open("wb", buffering=0)
        self._size = 0
        self._removed = 0  # bytes of files that were moved aside and overwritten
        self._is_between_lines = True

    def write(self, piece: bytes) -> None:
        """Write a piece of output. On a full disk the log ends, and the program continues."""
        if not self._file:
            return
        try:
            if self._size + len(piece) > LARGEST_LOG // 2:
                if not self._is_between_lines and b"\n" in piece:
                    end, newline, piece = piece.partition(b"\n")
                    self._put(end + newline)
                if piece:  # else there is nothing newer yet
                    self._roll()
            self._put(piece)
        except OSError as error:
            sys.stderr.write(f"cannot write the log any more: {error}\n")
            self.close()

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def _put(self, piece: bytes) -> None:
        """Append to the file, and note whether a line is open."""
        assert self._file
        self._size += self._file.write(piece)
        self._is_between_lines = piece.endswith(b"\n") or (not piece and self._is_between_lines)

    def _roll(self) -> None:
        """Move the full file aside and begin a new one with a line that says so."""
        assert self._file
        removed = ""
        if self._removed:
            removed = f"; {self._removed:,} bytes before that were removed"
        self._file.close()
        self._path.replace(self._aside)
        self._file = self._path.open("wb", buffering=0)
        self._file.write(f"earlier output is in {self._aside.name}{removed}\n".encode())
        self._removed += self._size
        self._size = 0


class OutputReader:
    """A thread that reads the output of a program in pieces.

    Reading in pieces instead of lines bounds the memory that one endless line needs: of such a line
    the beginning and the end are kept.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        log: Log | None,
        on_line: Callable[[str], None],
    ) -> None:
        assert process.stdout is not None
        self.last_output_at = time.monotonic()
        self.digest = sha256()
        self._kept: deque[str] = deque(maxlen=LINES_KEPT)
        self._open = b""  # the beginning of a line that has not ended
        self._log = log
        self._on_line = on_line
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def finish(self) -> None:
        """Read what is left. A child that keeps the pipe open is not waited for."""
        self._reader.join(timeout=LINGER_SECONDS)
        if self._reader.is_alive():
            self._pass_on_open_line()

    def lines(self) -> list[str]:
        """The last lines, also one that has not ended."""
        lines = list(self._kept)
        if self._open:
            lines.append(self._open.decode("utf-8", "replace"))
        return lines

    def _pass_on_open_line(self) -> None:
        if self._open:
            self._on_line(self._open.decode("utf-8", "replace"))

    def _read(self, pipe: IO[bytes]) -> None:
        """Read until every process has closed the pipe. Runs in a thread of its own."""
        with ExitStack() as opened:
            opened.enter_context(pipe)
            if self._log:
                opened.enter_context(closing(self._log))
            while piece := os.read(pipe.fileno(), 65536):
                self.last_output_at = time.monotonic()
                self.digest.update(piece)
                if self._log:
                    self._log.write(piece)
                self._split(piece)
        self._pass_on_open_line()

    def _split(self, piece: bytes) -> None:
        """Pass on the lines that a piece of output ends."""
        *ended, self._open = (self._open + piece).split(b"\n")
        if len(self._open) > LONGEST_LINE:
            head = LONGEST_LINE // 100
            self._open = self._open[:head] + self._open[head - LONGEST_LINE :]
        for raw in ended:
            line = raw.decode("utf-8", "replace")
            self._kept.append(line)
            self._on_line(line)
