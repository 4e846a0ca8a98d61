"""The process at the other end of a unix socket, as the kernel names it.

Nothing of it is taken from what the client sends. On macOS, which is not tested, the kernel tells
the user and the pid by other names.
"""

import os
import socket
import struct
import sys

from msgspec import Struct

from dos.agenthooks.io.hook_call import Caller
from dos.errors import Refused
from dos.machine import process

_CREDENTIALS = struct.Struct("3i")  # pid, user, group
_LOCAL_LEVEL = 0  # SOL_LOCAL of macOS
_LOCAL_CREDENTIALS = 1
_LOCAL_PID = 2


class Peer(Struct, frozen=True, kw_only=True):
    """The client of a connection."""

    pid: int
    user: int


def peer_of(connection: socket.socket) -> Peer:
    """Return who connected. Raises Refused for another user, and for who cannot be seen here."""
    peer = _read(connection)
    if peer.user != os.geteuid():
        raise Refused(f"user {peer.user} may not ask: this server is of user {os.geteuid()}")
    if peer.pid <= 0:
        raise Refused("the process that asks cannot be seen from here: it is in another container")
    return peer


def caller_of(peer: Peer) -> Caller:
    """Return the client as a caller of hooks, with the environment that it was started with."""
    return Caller(pid=peer.pid, environment=process.environment_of(peer.pid))


def session_of(peer: Peer) -> int:
    """Return the session of processes of a client: that of an agent, with all that it started."""
    try:
        return os.getsid(peer.pid)
    except OSError:
        return peer.pid


def _read(connection: socket.socket) -> Peer:
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(raw)
        return Peer(pid=pid, user=user)
    raw = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_CREDENTIALS, 76)
    pid = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PID)
    return Peer(pid=pid, user=struct.unpack_from("=II", raw)[1])
