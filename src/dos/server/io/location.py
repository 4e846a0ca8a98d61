"""Where a server can be reached: its folder in the state directory, its lock, token and sockets.

The folder belongs to the user alone. Of the files in it only the token counts; the kernel frees the
lock when the server dies, however it dies, and the next one replaces the socket that was left.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Self

from msgspec import DecodeError, Struct, ValidationError, json

from dos.agenthooks.socket_protocol import SOCKET_FOLDER, SOCKET_NAME
from dos.errors import BadInput, Refused
from dos.machine import filesystem

PRIVATE = 0o600
ENTRANCE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dos</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}"></head>
<body><a href="{url}">Continue</a></body></html>
"""
BACKLOG = 128


class AlreadyServing(Refused):
    """Another server serves this workspace on this machine."""


class Address(Struct, frozen=True, kw_only=True):
    """Who serves, and on which port. Of a server that has ended it is the last one."""

    pid: int
    port: int


class Location:
    """The server's files of one workspace."""

    def __init__(self, state: Path) -> None:
        self.folder = state / SOCKET_FOLDER
        self.socket = self.folder / SOCKET_NAME
        self.token_file = self.folder / "token"
        self.lock_file = self.folder / "lock"
        self.entrance = self.folder / "open.html"

    def address(self) -> Address | None:
        """Return what the running or the last server wrote down; None: there was none."""
        try:
            return json.decode(self.lock_file.read_bytes(), type=Address)
        except (OSError, DecodeError, ValidationError):
            return None

    def token(self) -> str:
        """Return the token; "" where there is none."""
        try:
            return self.token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def make_token(self) -> str:
        """Return the token that only this user can read; it is made where there is none."""
        try:
            mode = self.token_file.lstat().st_mode & 0o777
        except OSError:
            mode = 0
        token = self.token()
        if token and mode == PRIVATE:
            return token
        token = secrets.token_urlsafe(32)
        self.token_file.unlink(missing_ok=True)  # a file that is replaced keeps its mode
        filesystem.write_whole(self.token_file, token.encode(), mode=PRIVATE)
        return token

    def make_entrance(self, url: str) -> Path:
        """Return a page that only this user can read and that leads to an address.

        A browser is started with its path: the words that a program was started with can be read
        by all users of a machine, and the address has the token.
        """
        page = ENTRANCE.replace("{url}", escape(url))
        filesystem.write_whole(self.entrance, page.encode(), mode=PRIVATE)
        return self.entrance


class Seat:
    """The right to serve a workspace on this machine; it ends with the process."""

    def __init__(self, location: Location) -> None:
        """Take it. Raises AlreadyServing, which says who has it."""
        self.location = location
        location.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        location.folder.chmod(0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(location.lock_file, flags, PRIVATE)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise _already_serving(location.address()) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.location.socket.unlink(missing_ok=True)
        os.close(self._descriptor)

    def write_address(self, port: int) -> None:
        """Write down who serves. In place: the lock is on this very file."""
        text = json.encode(Address(pid=os.getpid(), port=port)) + b"\n"
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text, 0)

    def bind_unix(self) -> socket.socket:
        """Return the listening unix socket; one that a dead server left is replaced.

        Before there are threads: the path of a socket is bound to 107 bytes, so it is bound from
        inside of its folder.
        """
        self.location.socket.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old_mask = os.umask(0o177)
        try:
            with inside(self.location.folder):
                listener.bind(SOCKET_NAME)
        except OSError as error:
            listener.close()
            raise BadInput(
                f"{self.location.socket} cannot be made: {error.strerror}",
                hint="The state directory must be on a local disk.",
            ) from error
        finally:
            os.umask(old_mask)
        listener.listen(BACKLOG)
        listener.setblocking(False)
        return listener


def bind_tcp(ports: Iterable[int]) -> socket.socket:
    """Return a socket that listens on the first of these ports of loopback that is free."""
    tried = 0
    for port in ports:
        tried = port
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            continue
        listener.setblocking(False)
        return listener
    raise BadInput(
        f"port {tried} of 127.0.0.1 is taken",
        hint="Choose another one: dos config set server.port PORT",
    )


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder and return, also where its path is too long to be typed."""
    before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def _already_serving(address: Address | None) -> AlreadyServing:
    if address is None:
        return AlreadyServing("another server of this workspace is starting", hint="Try again.")
    return AlreadyServing(
        f"process {address.pid} serves this workspace on http://127.0.0.1:{address.port}",
        hint="`dos web` prints its address with the token.",
    )
