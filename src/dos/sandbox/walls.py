"""Walls: what a program may write, read, reach and signal. A value that the launcher carries out.

Whatever the kernel lacks is left out when the value is made (`build.py`), never while it is carried
out: a launcher that cannot put up a wall starts nothing.
"""

from msgspec import Struct

Ports = tuple[tuple[int, int], ...]  # ranges, each with its first and last port


class Walls(Struct, frozen=True, kw_only=True):
    """The walls around one program and all that it starts."""

    landlock_abi: int = 0  # 0: without Landlock
    writable: tuple[str, ...] = ()  # folders and files; one that does not exist is left out
    readable: tuple[str, ...] | None = None  # beside the writable ones; None: everything
    bind_ports: Ports | None = None  # TCP; None: every port
    connect_ports: Ports | None = None
    scoped: bool = False  # signals and abstract sockets reach only processes inside
    seccomp: bool = False  # no limits of other processes, no typing into terminals
    no_sockets: bool = False  # with seccomp: no socket with a name
    namespaces: bool = False  # of its own: users, mounts, processes, shared memory
    # With namespaces: parts of writable folders that are afterwards as they were before.
    preserved: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()  # with namespaces: folders that are empty inside
    reachable: tuple[str, ...] = ()  # with namespaces: what stays below folders that are covered
    private_tmp: str = ""  # with namespaces: the folder that is /tmp inside
    program: tuple[str, ...] = ()  # a command of the user's that starts the program instead
    refusal: str = ""  # why nothing may be started
    active: str = ""  # what is active, for people and receipts
