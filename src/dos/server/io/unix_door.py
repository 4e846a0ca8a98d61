"""The unix socket: one line in, one line out, and the connection ends."""

import asyncio
import re
import socket
import time

from dos.agenthooks.socket_protocol import LONGEST_REQUEST, error_reply
from dos.errors import BadInput, DosError, Refused
from dos.machine.peer import Peer
from dos.server.io import peer as peers
from dos.server.io.answers import Answers
from dos.server.io.threads import Threads
from dos.server.rate import Rate

MOST_CONNECTIONS = 128
REQUEST_SECONDS = 10.0  # to send the line
REFUSED_SECONDS = 1.0
REPLY_SECONDS = 10.0  # to take the answer
FULL_SECONDS = 0.1
PIECE = 1 << 16
# Of one session of processes: that of an agent, with all that it started.
PER_SECOND = 100.0
BURST = 200.0
_ASK = re.compile(rb'"ask"\s*:\s*"(hook|wait)"')  # for the pool alone: the request is parsed later


class UnixDoor:
    """Answers the connections of a listening unix socket."""

    def __init__(self, answers: Answers, threads: Threads) -> None:
        self._answers = answers
        self._threads = threads
        self._open = 0
        self._rate = Rate(per_second=PER_SECOND, burst=BURST)

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections for ever."""
        loop = asyncio.get_running_loop()
        running: set[asyncio.Task[None]] = set()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:  # no descriptor is left: others end meanwhile
                await asyncio.sleep(FULL_SECONDS)
                continue
            connection.setblocking(False)
            task = loop.create_task(self._serve(connection))
            running.add(task)
            task.add_done_callback(running.discard)

    async def _serve(self, connection: socket.socket) -> None:
        """Answer one connection, and close it whatever happens."""
        self._open += 1
        try:
            reply = await self._reply(connection)
            if reply:
                await asyncio.wait_for(
                    asyncio.get_running_loop().sock_sendall(connection, reply), REPLY_SECONDS
                )
        except (OSError, TimeoutError):
            pass  # the client is gone, or takes no answer
        finally:
            self._open -= 1
            connection.close()

    async def _reply(self, connection: socket.socket) -> bytes:
        """Return the answer to what a client asks; b"" where it asked nothing."""
        try:
            peer = peers.peer_of(connection)
            self._check_room(peer)
        except DosError as refusal:
            # Read and dropped: a client that still sends would not see what it is answered.
            await asyncio.wait_for(_read_line(connection), REFUSED_SECONDS)
            return error_reply(refusal)
        try:
            line = await asyncio.wait_for(_read_line(connection), REQUEST_SECONDS)
        except BadInput as refusal:
            return error_reply(refusal)
        if line is None:
            return b""
        ask = _ASK.search(line[:200])
        kind = ask[1].decode() if ask else "verb"
        try:
            return await self._threads.run(kind, lambda: self._answers.line(line, peer))
        except DosError as bug:
            return error_reply(bug)

    def _check_room(self, peer: Peer) -> None:
        """Raise Refused where too many ask at once, or one asks too often."""
        if self._open > MOST_CONNECTIONS:
            raise Refused(f"the server answers {MOST_CONNECTIONS} others", hint="Ask again.")
        if not self._rate.allows(peers.session_of(peer), time.monotonic()):
            raise Refused(f"more than {PER_SECOND:g} requests a second", hint="Ask less often.")


async def _read_line(connection: socket.socket) -> bytes | None:
    """Return the first line that a client sends; None where it hangs up before.

    Raises BadInput for one that is too long.
    """
    loop = asyncio.get_running_loop()
    pieces = bytearray()
    while True:
        piece = await loop.sock_recv(connection, PIECE)
        if not piece:
            return None
        end = piece.find(b"\n")
        if end >= 0:
            return bytes(pieces + piece[:end])
        pieces += piece
        if len(pieces) > LONGEST_REQUEST:
            raise BadInput(f"the request is longer than {LONGEST_REQUEST >> 20} MiB")
