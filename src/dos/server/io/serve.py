"""The server's process: it takes its seat, opens its doors, and ends when it is told to."""

import asyncio
import gc
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from dos.machine import process
from dos.server.io.answers import Answers
from dos.server.io.http_door import HttpDoor
from dos.server.io.location import Location, Seat, bind_tcp
from dos.server.io.threads import Threads
from dos.server.io.unix_door import UnixDoor
from dos.server.io.worlds import Worlds
from dos.server.security import Keys
from dos.server.settings import Server
from dos.workspace import Workspace

PRELOADED = (
    "dos.agenthooks.io.marker",
    "dos.agenthooks.io.posttool",
    "dos.agenthooks.io.pretool",
    "dos.agenthooks.io.session",
    "dos.agenthooks.io.stop",
    "dos.journal.backends.sqlite",
)


class Serving(Struct, frozen=True, kw_only=True):
    """What a server tells when it is ready."""

    pid: int
    address: str
    socket: str


def serve(
    place: Workspace,
    settings: Server,
    *,
    on_ready: Callable[[Serving], None],
    ends_with_stdin: bool = False,
) -> None:
    """Serve until a signal, or until stdin ends. Raises AlreadyServing where another one serves.

    With `ends_with_stdin` stdin is a pipe from the process that started this one: however that one
    ends, the kernel closes the pipe.
    """
    location = Location(place.state)
    with Seat(location) as seat:
        token = location.make_token()
        unix_listener = seat.bind_unix()
        last = location.address()
        tcp_listener = bind_tcp(settings.ports(last.port if last else 0, str(place.state)))
        port = tcp_listener.getsockname()[1]
        process.hide_memory(place.state)
        _preload()
        answers = Answers(Worlds(place))
        keys = Keys(token=token, session=secrets.token_urlsafe(32), port=port)
        seat.write_address(port)
        ready = Serving(
            pid=os.getpid(), address=f"http://127.0.0.1:{port}/", socket=str(location.socket)
        )
        try:
            asyncio.run(
                _run(
                    answers,
                    keys,
                    (unix_listener, tcp_listener),
                    lambda: on_ready(ready),
                    ends_with_stdin=ends_with_stdin,
                )
            )
        finally:
            unix_listener.close()
            tcp_listener.close()
            answers.close()


async def _run(
    answers: Answers,
    keys: Keys,
    listeners: tuple[socket.socket, socket.socket],
    on_ready: Callable[[], None],
    *,
    ends_with_stdin: bool,
) -> None:
    """Accept at both doors until the process is told to end."""
    loop = asyncio.get_running_loop()
    told_to_end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    if ends_with_stdin:
        loop.add_reader(0, _at_end_of_stdin, told_to_end)
    unix_listener, tcp_listener = listeners
    threads = Threads()
    doors = [
        loop.create_task(UnixDoor(answers, threads).accept(unix_listener)),
        loop.create_task(HttpDoor(answers, threads, keys).accept(tcp_listener)),
    ]
    waiting = loop.create_task(told_to_end.wait())
    on_ready()
    try:
        await asyncio.wait((*doors, waiting), return_when=asyncio.FIRST_COMPLETED)
        for door in doors:
            if door.done():
                door.result()  # a door that fell shut is a bug or an exhausted system: it is told
    finally:
        for task in (*doors, waiting):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*doors, waiting, return_exceptions=True)


def _at_end_of_stdin(told_to_end: asyncio.Event) -> None:
    """End where the process at the other end of stdin has closed it or has ended."""
    if not os.read(0, 1 << 12):
        asyncio.get_running_loop().remove_reader(0)
        told_to_end.set()


def _preload() -> None:
    """Import what the first hook would import, and keep the collector away from it."""
    for name in PRELOADED:
        __import__(name)
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.002)  # seconds: a hook does not wait long for the thread of a verb
