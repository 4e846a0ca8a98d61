"""The named unix sockets of other programs that this user can open."""

import os
from pathlib import Path

_TABLE = Path("/proc/net/unix")
_LISTENS = 0x10000  # a flag of the table
# What a program behind the socket can be told to do, by a part of its path.
_KNOWN = {
    "docker.sock": "Docker: root on this machine",
    "containerd.sock": "containerd: root on this machine",
    "podman.sock": "Podman",
    "tmux-": "tmux: types into your terminals",
    "/screen": "screen: types into your terminals",
    "system_bus_socket": "D-Bus of the system",
    "/bus": "D-Bus of your session",
    "systemd/private": "systemd: starts services as you",
    "ssh-": "ssh-agent: uses your keys",
    "S.gpg-agent": "gpg-agent: uses your keys",
    ".s.PGSQL": "PostgreSQL",
    "mysqld.sock": "MySQL",
    ".X11-unix": "X11: reads your keys and screen",
    "wayland-": "Wayland",
}


def open_sockets() -> dict[str, str]:
    """The paths of sockets that are listened on and that this user may write to, and what they
    are; empty where it is not known. None on systems without Linux's table."""
    try:
        lines = _TABLE.read_text(errors="replace").splitlines()[1:]
    except OSError:
        return {}
    sockets = {}
    for line in lines:
        fields = line.split(maxsplit=7)
        if len(fields) < 8 or not fields[7].startswith("/"):
            continue
        if int(fields[3], 16) & _LISTENS and os.access(fields[7], os.W_OK):
            sockets[fields[7]] = _meaning(fields[7])
    return dict(sorted(sockets.items()))


def _meaning(path: str) -> str:
    for part, meaning in _KNOWN.items():
        if part in path:
            return meaning
    return ""
