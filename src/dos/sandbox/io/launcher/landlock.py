"""Landlock: rules of the kernel on files, TCP ports, signals and abstract sockets.

They hold for this process and all that it starts, and nothing can lift them again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

from dos.sandbox.io.launcher.kernel import KernelError, call, prepared_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# Numbers of the system calls, the same on every architecture.
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NET_PORT = 2

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_CHANGES = sum(1 << bit for bit in range(4, 13))  # remove and make every kind of entry
_REFER = 1 << 13  # rename and link between folders
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_RESOLVE_UNIX = 1 << 16  # connect to a named socket that was made outside
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV | _RESOLVE_UNIX

_BIND_TCP = 1
_CONNECT_TCP = 2
_SCOPE_ABSTRACT_SOCKETS = 1
_SCOPE_SIGNALS = 2

# The first version of the interface that knows a rule.
_PORTS_ABI = 4
_DEVICES_ABI = 5
_SCOPES_ABI = 6
_NAMED_SOCKETS_ABI = 9


def version() -> int:
    """The version of the interface; 0 where the kernel has none or does not allow it."""
    try:
        return call(_CREATE_RULESET, 0, 0, _VERSION_FLAG, about="Landlock")
    except KernelError:
        return 0


def restrict(walls: dict[str, Any]) -> None:
    """Put up the rules of the walls. Raises KernelError where one of them is not possible.

    The rules on ports are a layer of their own, so that they can be made once and used for many
    programs: `ports_ruleset` is the descriptor of those that the process above has made. It is
    the second layer, since each layer copies the rules below it.
    """
    abi = walls["landlock_abi"]
    handled = _handled_rights(abi, reads=walls["readable"] is not None)
    scoped = 0
    if walls["scoped"] and abi >= _SCOPES_ABI:
        scoped = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS
    attributes = (ctypes.c_uint64 * 3)(handled, 0, scoped)
    size = 8
    if abi >= _PORTS_ABI:
        size = 16
    if abi >= _SCOPES_ABI:
        size = 24
    ruleset = call(_CREATE_RULESET, attributes, size, 0, about="Landlock")
    _allow_paths(ruleset, walls["writable"], handled)
    _allow_paths(ruleset, walls["readable"] or (), handled & _READ)
    _enforce(ruleset)
    if walls["bind_ports"] is not None or walls["connect_ports"] is not None:
        ports = walls.get("ports_ruleset", -1)
        if ports < 0:
            ports = make_ports_ruleset(walls["bind_ports"], walls["connect_ports"])
        _enforce(ports)


def make_ports_ruleset(
    bind: Sequence[tuple[int, int]] | None, connect: Sequence[tuple[int, int]] | None
) -> int:
    """Make the rules on ports, and return their descriptor. None: every port is allowed.

    Raises KernelError where the kernel does not know such rules.
    """
    handled = 0
    if bind is not None:
        handled |= _BIND_TCP
    if connect is not None:
        handled |= _CONNECT_TCP
    attributes = (ctypes.c_uint64 * 2)(_REFER, handled)
    ruleset = call(_CREATE_RULESET, attributes, 16, 0, about="Landlock")
    # Every layer refuses renames and links between folders that it does not allow.
    _allow_paths(ruleset, ("/",), _REFER)
    _allow_ports(ruleset, bind or (), connect or ())
    return ruleset


def _enforce(ruleset: int) -> None:
    """Put a layer of rules up around this process, and close its descriptor."""
    try:
        call(_RESTRICT_SELF, ruleset, 0, about="Landlock")
    except KernelError as error:
        if error.errno == errno.E2BIG:
            raise KernelError(
                errno.E2BIG,
                "this process is inside 16 layers of Landlock already, and the kernel allows no"
                " more; start dos outside of them",
                "Landlock",
            ) from None
        raise
    os.close(ruleset)


def _handled_rights(abi: int, *, reads: bool) -> int:
    """The rights on files that nobody has unless a rule gives them."""
    rights = _WRITE_FILE | _CHANGES | _REFER | _TRUNCATE
    if reads:
        rights |= _READ
    if abi >= _DEVICES_ABI:
        rights |= _IOCTL_DEV
    if abi >= _NAMED_SOCKETS_ABI:
        rights |= _RESOLVE_UNIX
    return rights


def _allow_paths(ruleset: int, paths: Iterable[str], rights: int) -> None:
    """Give the same rights on every path, so that renames between them work.

    A path that does not exist, or that this user cannot reach, needs no rule.
    """
    if not rights:
        return
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = rights
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            allowed &= _OF_A_FILE
        rule = struct.pack("=Qi", allowed, descriptor)
        call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0, about=path)
        os.close(descriptor)


def _allow_ports(
    ruleset: int, bind: Sequence[tuple[int, int]], connect: Sequence[tuple[int, int]]
) -> None:
    """Give rights on ports, one rule for each port: the kernel has no ranges.

    Test servers need some 28,000 of them, so the loop is kept small.
    """
    rule = (ctypes.c_uint64 * 2)()
    add = prepared_call(_ADD_RULE, ruleset, _NET_PORT, rule, 0, about="TCP ports")
    edges = {edge for first, last in (*bind, *connect) for edge in (first, last + 1)}
    for first, beyond in zip(sorted(edges), sorted(edges)[1:], strict=False):
        rule[0] = _BIND_TCP * _holds(bind, first) | _CONNECT_TCP * _holds(connect, first)
        if rule[0]:
            for rule[1] in range(first, beyond):
                add()


def _holds(ranges: Sequence[tuple[int, int]], port: int) -> bool:
    return any(first <= port <= last for first, last in ranges)
