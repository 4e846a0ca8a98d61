"""A line to a server that counts the trips over it, and can be cut at a chosen one.

with Wire(port) as wire:
    store = open_store(wire.url(...))
    wire.cut(at_trip=2, delivered=True)
"""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Wire:
    def __init__(self, port: int) -> None:
        self.trips = 0
        self._target = port
        self._cut_at: int | None = None
        self._delivered = True
        self._waiting = False  # the client has spoken, and the server has not answered yet
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        self._cut()

    def count(self) -> None:
        """Count from here."""
        with self._lock:
            self.trips = 0

    def cut(self, *, at_trip: int, delivered: bool) -> None:
        """Cut the line in that trip from now: after the request was delivered, or before."""
        with self._lock:
            self.trips, self._cut_at, self._delivered = 0, at_trip, delivered

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._open += [client, server]
                threading.Thread(
                    target=self._pass_requests, args=(client, server), daemon=True
                ).start()
                threading.Thread(
                    target=self._pass_answers, args=(client, server), daemon=True
                ).start()

    def _pass_requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while request := client.recv(1 << 16):
                with self._lock:
                    self.trips += not self._waiting
                    self._waiting = True
                    lost = self.trips == self._cut_at and not self._delivered
                if lost:
                    self._cut()
                    return
                server.sendall(request)
        server.close()

    def _pass_answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while answer := server.recv(1 << 16):
                with self._lock:
                    self._waiting = False
                    lost = self.trips == self._cut_at and self._delivered
                if lost:
                    self._cut()
                    return
                client.sendall(answer)
        client.close()

    def _cut(self) -> None:
        with self._lock:  # who connects again meanwhile has a new line
            doomed, self._open = self._open, []
            self._cut_at, self._waiting = None, False
        for each in doomed:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
