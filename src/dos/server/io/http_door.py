"""The port on loopback: hooks, MCP, events and the JSON of read verbs, for who shows the token."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator

from dos.server import http, security
from dos.server.http import BadRequest, Request, Response
from dos.server.io.answers import Answers
from dos.server.io.routes import Routes
from dos.server.io.threads import Threads
from dos.server.rate import Rate, SharedRate
from dos.server.room import Guest, Room
from dos.server.security import Keys

MOST_CONNECTIONS = 128
MOST_OF_CLIENT = 96
HEAD_SECONDS = 15.0  # also between two requests of a connection
BODY_SECONDS = 30.0
WRITE_SECONDS = 30.0  # for a client to take what it asked for
# Of programs, and of browsers, for each first part of the path: who asks hooks shuts out no page.
PER_SECOND = 200.0
BURST = 400.0
# Of all together; what was asked no more than a little of late is answered beyond it.
ALL_PER_SECOND = 400.0
ALL_BURST = 800.0
LITTLE = 20.0
REFUSED_PER_SECOND = 20.0  # of all who do not show the token, together
REFUSED_BURST = 100.0


class HttpDoor:
    """Answers the connections of a listening TCP socket."""

    def __init__(self, answers: Answers, threads: Threads, keys: Keys) -> None:
        self._keys = keys
        self._routes = Routes(answers, threads)
        self._room = Room(most=MOST_CONNECTIONS, most_of_client=MOST_OF_CLIENT)
        self._writers: dict[Guest, asyncio.StreamWriter] = {}
        self._rate = SharedRate(
            each=Rate(per_second=PER_SECOND, burst=BURST),
            all_together=Rate(per_second=ALL_PER_SECOND, burst=ALL_BURST),
            little=LITTLE,
        )
        self._refused = Rate(per_second=REFUSED_PER_SECOND, burst=REFUSED_BURST)

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections for ever."""
        server = await asyncio.start_server(self._serve, sock=listener, limit=http.LONGEST_HEAD)
        async with server:
            await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after another."""
        guest, leaving = self._room.enter(security.STRANGER)
        if leaving is not None:
            self._writers[leaving].transport.abort()
        try:
            if guest is None:
                busy = http.text_response(503, "Too many connections.", {"Retry-After": "1"})
                await _send(writer, http.encode_response(busy, keeps_alive=False))
                return
            self._writers[guest] = writer
            while await self._exchange(reader, writer, guest):
                self._room.set_idle(guest, is_idle=True, client=guest.client)
        except BadRequest as problem:
            refusal = http.text_response(problem.status, problem.message)
            await _send_last(writer, http.encode_response(refusal, keeps_alive=False))
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client is gone, silent, or takes no answer
        except asyncio.CancelledError:
            pass  # the server ends; asyncio would report each connection as a bug
        finally:
            if guest is not None:
                self._room.leave(guest)
                self._writers.pop(guest, None)
            writer.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, guest: Guest
    ) -> bool:
        """Answer one request; return whether another one may follow. Raises BadRequest."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
        except asyncio.LimitOverrunError:
            raise BadRequest(431, "The head of the request is too long.") from None
        request = http.parse_head(head)
        refusal = self._refusal(request)
        if refusal is not None:
            # What follows the head is not read: it could be anything, and of any length.
            ends = not request.length
            await _send(writer, http.encode_response(refusal, keeps_alive=ends))
            return ends and request.keeps_alive
        client = security.shown_by(request, self._keys)
        if self._room.is_crowded_by(client):
            busy = http.text_response(503, "Too many requests at once.", {"Retry-After": "1"})
            await _send_last(writer, http.encode_response(busy, keeps_alive=False))
            return False
        self._room.set_idle(guest, is_idle=False, client=client)
        if request.length and request.headers.get("expect", "").lower() == "100-continue":
            await _send(writer, b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await asyncio.wait_for(reader.readexactly(request.length), BODY_SECONDS)
        answer = await self._routes.answer(request, body, client)
        if isinstance(answer, Response):
            content = http.encode_response(
                answer, keeps_alive=request.keeps_alive, with_body=request.method != "HEAD"
            )
            await _send(writer, content)
            return request.keeps_alive
        await _stream(reader, writer, answer)
        return False

    def _refusal(self, request: Request) -> Response | None:
        """Return why a request is not answered; None: it is."""
        now = time.monotonic()
        refusal = security.refusal(request, self._keys)
        if refusal is not None:
            if not self._refused.allows("", now):
                return http.text_response(429, "Too many requests.", {"Retry-After": "1"})
            return refusal
        asked = (security.shown_by(request, self._keys), request.path.split("/")[1])
        if not self._rate.allows(asked, now):
            return http.text_response(429, "Too many requests.", {"Retry-After": "1"})
        return None


async def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Send, and wait until the client has taken nearly all of it."""
    writer.write(content)
    await asyncio.wait_for(writer.drain(), WRITE_SECONDS)


async def _send_last(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Send to a client that may be gone."""
    try:
        await _send(writer, content)
    except (OSError, TimeoutError):
        return


async def _stream(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: AsyncIterator[bytes]
) -> None:
    """Send events until the client hangs up. Its end ends the connection."""
    headers = {"Content-Type": "text/event-stream; charset=utf-8", "Connection": "close"}
    await _send(writer, http.encode_head(200, headers))
    gone = asyncio.ensure_future(reader.read(1))
    try:
        while True:
            following = asyncio.ensure_future(anext(events, b""))
            await asyncio.wait((gone, following), return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                following.cancel()
                return
            if not following.result():
                return
            await _send(writer, following.result())
    finally:
        gone.cancel()
