"""The process at the other end of a unix socket, as the kernel names it.

Nothing of it is taken from what the client sends. On macOS, which is not tested, the kernel tells
the user and the pid by other names.
"""

import os
import socket
import struct
import sys

from msgspec import Struct

from dos.machine import process

_CREDENTIALS = struct.Struct("3i")  # pid, user, group
_LOCAL_LEVEL = 0  # SOL_LOCAL of macOS
_LOCAL_CREDENTIALS = 1
_LOCAL_PID = 2


class Peer(Struct, frozen=True, kw_only=True):
    """The client of a connection. A pid of 0 is one that cannot be seen from here."""

    pid: int
    user: int


def read_peer(connection: socket.socket) -> Peer:
    """Return who has connected. Raises OSError where the kernel does not say."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(raw)
        return Peer(pid=pid, user=user)
    raw = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_CREDENTIALS, 76)
    pid = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PID)
    return Peer(pid=pid, user=struct.unpack_from("=II", raw)[1])


def is_descendant(connection: socket.socket) -> bool:
    """Whether this process started the one that has connected, or one of its ancestors.

    Raises OSError where the kernel does not say who has connected.
    """
    peer = read_peer(connection)
    if peer.pid <= 0 or peer.user != os.geteuid():
        return False
    return os.getpid() in process.ancestors(peer.pid)
