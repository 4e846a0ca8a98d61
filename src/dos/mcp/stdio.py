"""Serves MCP on stdin and stdout: one message a line. Calls run beside one another.

The two streams are taken away from everything else, so that nothing a verb prints or reads can get
between the messages.
"""

import os
import threading
from io import FileIO
from typing import Any

from msgspec import DecodeError, json

from dos.mcp.protocol import PARSE_ERROR, Message, Session, error

LONGEST_LINE = 1 << 24
MOST_CALLS = 64  # at once; more wait until one has ended
GRACE_SECONDS = 10.0  # for calls that still run at the end of input
STDIN, STDOUT, STDERR = 0, 1, 2
CALLS = ("tools/call", "resources/read")  # they run a verb; all else is answered at once


class Server:
    """Answers each line of a file with at most one line of another."""

    def __init__(self, session: Session, reader: FileIO, writer: FileIO) -> None:
        self._session = session
        self._reader = reader
        self._writer = writer
        self._write_lock = threading.Lock()
        self._slots = threading.Semaphore(MOST_CALLS)
        self._short_calls: list[threading.Thread] = []

    def run(self) -> None:
        """Answer until the end of input. Calls that wait for something are then abandoned."""
        buffer = bytearray()
        while chunk := self._reader.read(1 << 16):
            buffer += chunk
            *lines, rest = buffer.split(b"\n")
            buffer = rest
            for line in lines:
                self._take(bytes(line))
            if len(buffer) > LONGEST_LINE:
                self._send(error(None, PARSE_ERROR, "Parse error: the message is too long"))
                return
        self._take(bytes(buffer))
        for thread in self._short_calls:
            thread.join(GRACE_SECONDS)

    def _take(self, line: bytes) -> None:
        """Answer one line: at once, or in a thread where a verb has to run."""
        if not line.strip():
            return
        try:
            message = json.decode(line)
        except (DecodeError, UnicodeDecodeError, RecursionError) as problem:
            self._send(error(None, PARSE_ERROR, f"Parse error: {problem}"))
            return
        if not isinstance(message, dict) or message.get("method") not in CALLS:
            self._send(self._session.handle(message))
            return
        self._slots.acquire()
        thread = threading.Thread(target=self._call, args=(message,), daemon=True)
        thread.start()
        if not self._session.is_long(message):
            self._short_calls = [each for each in self._short_calls if each.is_alive()]
            self._short_calls.append(thread)

    def _call(self, message: Any) -> None:
        try:
            self._send(self._session.handle(message))
        finally:
            self._slots.release()

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
