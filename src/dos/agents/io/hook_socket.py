"""The socket by which the hooks of one running agent ask the worker that started it.

One line in, one line out (`agenthooks/socket_protocol.py`). Only processes of this user that the
worker has started get an answer. Whoever gets none has to take that for a no.
"""

import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self

from dos.agenthooks import socket_protocol
from dos.agenthooks.socket_protocol import LONGEST_REQUEST, Request
from dos.errors import BadInput
from dos.machine.peer import is_descendant

READ_SECONDS = 10.0  # for a whole request
MOST_AT_ONCE = 8  # connections that are answered; others wait
MOST_REQUESTS = 20_000  # of one start: what is answered may be an event of the journal
_BACKLOG = 64
_PIECE = 1 << 16

TOO_MANY = BadInput(f"this agent has asked {MOST_REQUESTS:,} times, which is too often")


class Caller:
    """The hook at the other end of a connection, which waits for its answer."""

    def __init__(self, connection: socket.socket, places: threading.Semaphore) -> None:
        """`places` are those of the connections that are answered at once."""
        self._connection = connection
        self._places = places

    def is_there(self) -> bool:
        """Whether it still waits. May be called from any thread."""
        ends = select.poll()
        try:
            ends.register(self._connection, select.POLLHUP)
            return not ends.poll(0)
        except (OSError, ValueError):  # it was answered meanwhile
            return False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs, another one is answered in its place."""
        self._places.release()
        try:
            yield
        finally:
            self._places.acquire()


class HookSocket:
    """A context manager that answers requests while its block runs, each in a thread."""

    def __init__(self, path: Path, answer: Callable[[Request, Caller], bytes]) -> None:
        """`answer` returns the line for a request. It is called in several threads at once."""
        self.path = path
        self._answer = answer
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._room = threading.Semaphore(MOST_AT_ONCE)
        self._asked = 0
        self._is_closed = False

    def __enter__(self) -> Self:
        with suppress(FileNotFoundError):
            self.path.unlink()
        before = os.umask(0o177)
        try:
            self._server.bind(str(self.path))
        finally:
            os.umask(before)
        self._server.listen(_BACKLOG)
        threading.Thread(target=self._accept, name="hook-socket", daemon=True).start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._is_closed = True
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes up the thread that accepts
        self._server.close()
        with suppress(OSError):  # the agent may have removed it
            self.path.unlink()

    def _accept(self) -> None:
        """Accept connections until the block ends."""
        while not self._is_closed:
            self._room.acquire()
            try:
                connection, _ = self._server.accept()
            except OSError:
                self._room.release()
                return  # the block has ended
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one connection. One that breaks, or that is not of the agent, gets no answer."""
        try:
            with closing(connection), suppress(OSError):
                connection.settimeout(READ_SECONDS)
                if is_descendant(connection):
                    line = _read_line(connection)
                    connection.sendall(self._reply(line, Caller(connection, self._room)))
        finally:
            self._room.release()

    def _reply(self, line: bytes, caller: Caller) -> bytes:
        self._asked += 1
        if self._asked > MOST_REQUESTS:
            return socket_protocol.error_reply(TOO_MANY)
        try:
            return self._answer(socket_protocol.parse_request(line), caller)
        except BadInput as error:
            return socket_protocol.error_reply(error)


def _read_line(connection: socket.socket) -> bytes:
    """Read until a line ends; of one that is too long only so much that it is known to be."""
    pieces = []
    length = 0
    while length <= LONGEST_REQUEST:
        piece = connection.recv(_PIECE)
        if not piece:
            break
        pieces.append(piece)
        length += len(piece)
        if b"\n" in piece:
            break
    return b"".join(pieces).partition(b"\n")[0]
