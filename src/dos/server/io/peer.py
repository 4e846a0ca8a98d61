"""Who asks the server by its unix socket, as the kernel names it."""

import os
import socket

from dos.agenthooks.io.hook_call import Caller
from dos.errors import Refused
from dos.machine import process
from dos.machine.peer import Peer, read_peer


def peer_of(connection: socket.socket) -> Peer:
    """Return who connected. Raises Refused for another user, and for who cannot be seen here."""
    peer = read_peer(connection)
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
