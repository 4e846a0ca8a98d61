"""Serves MCP on stdin and stdout: one message a line. Calls run beside one another.

The two streams are taken away from everything else, so that nothing a verb prints or reads can get
between the messages.
"""

import os
import threading
from io import FileIO
from typing import Any

from msgspec import DecodeError, json

from dos.mcp.protocol import BUSY, CALLS, PARSE_ERROR, Message, Session, error, refuse

LONGEST_LINE = 1 << 24
MOST_CALLS = 64  # at once; more wait until one has ended, which a deadline makes soon
MOST_LONG_CALLS = 32  # at once, of those that wait on purpose; more are refused
GRACE_SECONDS = 10.0  # for calls that still run at the end of input
STDIN, STDOUT, STDERR = 0, 1, 2


class Server:
    """Answers each line of a file with at most one line of another."""

    def __init__(self, session: Session, reader: FileIO, writer: FileIO) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer
        self._write_lock = threading.Lock()
        self._slots = threading.Semaphore(MOST_CALLS)
        self._long_slots = threading.Semaphore(MOST_LONG_CALLS)
        self._short_calls: list[threading.Thread] = []

    def run(self) -> None:
        """Answer until the end of input. Calls that wait for something are then abandoned."""
        parts: list[bytes] = []  # of the line that is being read
        size = 0
        while chunk := self._reader.read(1 << 16):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                self._take_whole(parts, size + len(end), end)
                parts, size = [], 0
            size += len(rest)
            if size <= LONGEST_LINE:
                parts.append(rest)
        self._take_whole(parts, size, b"")
        for thread in self._short_calls:
            thread.join(GRACE_SECONDS)

    def _take_whole(self, parts: list[bytes], size: int, end: bytes) -> None:
        """Answer the line that these parts make; one that was too long to keep gets an error."""
        if size > LONGEST_LINE:
            self._send(error(None, PARSE_ERROR, "Parse error: the message is too long"))
            return
        self._take(b"".join([*parts, end]))

    def _take(self, line: bytes) -> None:
        """Answer one line: at once, or in a thread where a verb has to run."""
        if not line.strip():
            return
        try:
            message = json.decode(line)
        except (DecodeError, ValueError, RecursionError) as problem:
            self._send(error(None, PARSE_ERROR, f"Parse error: {problem}"))
            return
        if not isinstance(message, dict) or message.get("method") not in CALLS:
            self._send(self._session.handle(message))
            return
        is_long = self._session.is_long(message)
        slots = self._long_slots if is_long else self._slots
        if not slots.acquire(blocking=not is_long):
            self._send(refuse(message, BUSY, "Too many calls wait already"))
            return
        thread = threading.Thread(target=self._call, args=(message, slots), daemon=True)
        thread.start()
        if not is_long:
            self._short_calls = [each for each in self._short_calls if each.is_alive()]
            self._short_calls.append(thread)

    def _call(self, message: Any, slots: threading.Semaphore) -> None:
        try:
            self._send(self._session.handle(message))
        finally:
            slots.release()

    def _send(self, answer: Message | None) -> None:
        """Write an answer whole. A client that is gone gets none."""
        if answer is None:
            return
        line = memoryview(json.encode(answer) + b"\n")
        with self._write_lock:
            try:
                while line:
                    line = line[self._writer.write(line) or 0 :]
            except OSError:
                return


def serve(session: Session) -> None:
    """Serve the client at stdin and stdout until it closes stdin."""
    reader = FileIO(os.dup(STDIN), "rb")
    writer = FileIO(os.dup(STDOUT), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, STDIN)
    os.close(nothing)
    os.dup2(STDERR, STDOUT)
    Server(session, reader, writer).run()
