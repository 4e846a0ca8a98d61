"""The process at the other end of a unix socket, as the kernel names it."""

import os
import socket
import struct
import sys

from msgspec import Struct

from dos.machine import process

_UCRED = struct.Struct("3i")  # pid, uid, gid
# Of macOS: the socket level of unix sockets, and the option with the pid.
_SOL_LOCAL = 0
_LOCAL_PEERPID = 2


class Peer(Struct, frozen=True, kw_only=True):
    """A process that has connected. A pid of 0 is one that this process cannot see."""

    pid: int
    uid: int


def peer_of(connection: socket.socket) -> Peer | None:
    """Return who has connected; None where the kernel does not say."""
    try:
        if sys.platform == "linux":
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
            pid, uid, _ = _UCRED.unpack(raw)
            return Peer(pid=pid, uid=uid)
        # Its folder keeps other users out; the kernel of macOS names no user here.
        pid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
        return Peer(pid=pid, uid=os.getuid())
    except OSError:
        return None


def is_descendant(connection: socket.socket) -> bool:
    """Whether this process started the one that has connected, or one of its ancestors."""
    peer = peer_of(connection)
    if peer is None or peer.pid <= 0 or peer.uid != os.geteuid():
        return False
    return os.getpid() in process.ancestors(peer.pid)
