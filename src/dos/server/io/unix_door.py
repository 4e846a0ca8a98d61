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
from dos.server.rate import Rate, SharedRate
from dos.server.room import Guest, Room

MOST_CONNECTIONS = 256
MOST_OF_CLIENT = 64
MOST_REFUSED = 64  # that are told so at the same time
REQUEST_SECONDS = 10.0  # to send the line
REFUSED_SECONDS = 1.0
REPLY_SECONDS = 10.0  # to take the answer
FULL_SECONDS = 0.1
PIECE = 1 << 16
# Of one client: a session of processes, as an agent has it with all that it started.
PER_SECOND = 100.0
BURST = 200.0
# Of all together; who asked no more than a little of late is answered beyond it.
ALL_PER_SECOND = 500.0
ALL_BURST = 1000.0
LITTLE = 20.0
_ASK = re.compile(rb'"ask"\s*:\s*"(hook|wait)"')  # for the pool alone: the request is parsed later


class UnixDoor:
    """Answers the connections of a listening unix socket."""

    def __init__(self, answers: Answers, threads: Threads) -> None:
        self._answers = answers
        self._threads = threads
        self._room = Room(most=MOST_CONNECTIONS, most_of_client=MOST_OF_CLIENT)
        self._tasks: dict[Guest, asyncio.Task[None]] = {}
        self._refusing = 0
        self._rate = SharedRate(
            each=Rate(per_second=PER_SECOND, burst=BURST),
            all_together=Rate(per_second=ALL_PER_SECOND, burst=ALL_BURST),
            little=LITTLE,
        )

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
        try:
            reply = await self._reply(connection)
            if reply:
                await asyncio.wait_for(
                    asyncio.get_running_loop().sock_sendall(connection, reply), REPLY_SECONDS
                )
        except (OSError, TimeoutError):
            pass  # the client is gone, or takes no answer
        finally:
            connection.close()

    async def _reply(self, connection: socket.socket) -> bytes:
        """Return the answer to what a client asks; b"" where it asked nothing."""
        try:
            peer = peers.peer_of(connection)
            client = peers.session_of(peer)
            guest = self._enter(client)
        except DosError as refusal:
            return await self._refuse(connection, refusal)
        try:
            return await self._answer(connection, peer, guest)
        except DosError as refusal:
            return error_reply(refusal)
        finally:
            self._room.leave(guest)
            del self._tasks[guest]

    async def _answer(self, connection: socket.socket, peer: Peer, guest: Guest) -> bytes:
        """Return the answer to the line of a client that has a place; b"" without a line."""
        line = await asyncio.wait_for(_read_line(connection), REQUEST_SECONDS)
        if line is None:
            return b""
        client = guest.client
        self._room.set_idle(guest, is_idle=False, client=client)
        if not self._rate.allows(client, time.monotonic()):
            raise Refused(f"more than {PER_SECOND:g} requests a second", hint="Ask less often.")
        ask = _ASK.search(line[:200])
        kind = ask[1].decode() if ask else "verb"
        return await self._threads.run(kind, lambda: self._answers.line(line, peer), client=client)

    async def _refuse(self, connection: socket.socket, refusal: DosError) -> bytes:
        """Return the refusal of a client that has no place.

        What it sends is read and dropped: else it would not see what it is answered. Of many at
        once the others are only hung up on.
        """
        if self._refusing >= MOST_REFUSED:
            return b""
        self._refusing += 1
        try:
            await asyncio.wait_for(_read_line(connection), REFUSED_SECONDS)
        finally:
            self._refusing -= 1
        return error_reply(refusal)

    def _enter(self, client: object) -> Guest:
        """Return the place of a connection, for which an idle one may have to end."""
        guest, leaving = self._room.enter(client)
        if leaving is not None:
            self._tasks[leaving].cancel()
        if guest is None:
            raise Refused("the server answers too many others", hint="Ask again.")
        task = asyncio.current_task()
        assert task is not None
        self._tasks[guest] = task
        return guest


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
