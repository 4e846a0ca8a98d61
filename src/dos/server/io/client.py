"""Asks the server of a workspace, from another process."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import DecodeError, Struct, json

from dos.agenthooks.socket_protocol import SOCKET_NAME, verb_request
from dos.server.io.location import Address, Location, inside
from dos.unknown import Unknown

LONGEST_PATH = 100  # bytes: what fits into the address of a unix socket everywhere
PIECE = 1 << 16


class Status(Struct, frozen=True, kw_only=True):
    """Whether a server runs, and where."""

    address: Address | None = None  # of the one that runs now
    problem: str = ""  # why it does not answer, though it runs


def connect(location: Location, seconds: float) -> socket.socket:
    """Return a connection to the server. Raises OSError where nobody listens."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(seconds)
    try:
        path = str(location.socket)
        if len(path.encode()) <= LONGEST_PATH:
            client.connect(path)
        elif sys.platform == "linux":
            with _open_folder(location) as folder:
                client.connect(f"/proc/self/fd/{folder}/{SOCKET_NAME}")
        else:
            with inside(location.folder):  # not for several threads at once
                client.connect(SOCKET_NAME)
    except OSError:
        client.close()
        raise
    return client


@contextmanager
def _open_folder(location: Location) -> Iterator[int]:
    """Hold the server's folder open."""
    folder = os.open(location.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


def ask_line(location: Location, line: bytes, seconds: float) -> Any:
    """Return the decoded answer to a line of the protocol; Unknown where there is none in time."""
    deadline = time.monotonic() + seconds
    pieces = bytearray()
    try:
        with connect(location, seconds) as client:
            client.sendall(line)
            while not pieces.endswith(b"\n"):
                client.settimeout(max(0.001, deadline - time.monotonic()))
                piece = client.recv(PIECE)
                if not piece:
                    break
                pieces += piece
        return json.decode(bytes(pieces))
    except (OSError, DecodeError, UnicodeDecodeError) as error:
        return Unknown(f"the server does not answer: {error}")


def status(location: Location, seconds: float = 2.0) -> Status:
    """Return whether a server runs, and whether it answers."""
    try:
        connect(location, seconds).close()
    except OSError:
        return Status()
    address = location.address()
    answer = ask_line(location, verb_request("version", {}), seconds)
    if isinstance(answer, Unknown):
        return Status(address=address, problem=answer.why)
    if "data" not in answer:
        return Status(address=address, problem=str(answer.get("error", "it gives no answer")))
    return Status(address=address)
