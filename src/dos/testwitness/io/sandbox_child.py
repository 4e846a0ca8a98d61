"""Starts a command, without a network if asked, and ends all processes that it leaves behind.

This file is a program: a bare interpreter runs it, so it imports nothing of dos. Its arguments are
`off` or `on` for the network, then the command. On Linux every orphan below it becomes its child,
even one in its own session and with another environment; elsewhere only the command's process
group is ended.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import NoReturn

CANNOT_START = 120
_IS_LINUX = sys.platform == "linux"
# Numbers of the Linux interface, which Python does not name.
_SIGNAL_WHEN_PARENT_DIES = 1
_ADOPT_ORPHANS = 36
_NEW_USERS = 0x10000000
_NEW_NETWORK = 0x40000000
_SET_FLAGS = 0x8914
_UP = 0x1


class _TerminatedError(Exception):
    """This process was asked to end."""


def main(network: str, command: list[str]) -> NoReturn:
    """Run the command, end what it leaves, and exit with its code."""
    # Blocked until there is a child to end.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    signal.signal(signal.SIGTERM, _terminate)
    if _IS_LINUX:
        libc = ctypes.CDLL(None)
        libc.prctl(_ADOPT_ORPHANS, 1)
        libc.prctl(_SIGNAL_WHEN_PARENT_DIES, signal.SIGTERM)
    try:
        if network == "off":
            _cut_network()
    except OSError as error:
        sys.stderr.write(f"the network cannot be cut off: {error.strerror}\n")
        os._exit(CANNOT_START)
    child = os.fork() or _become(command)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        code = _code_of(child)
    except _TerminatedError:
        code = 128 + signal.SIGTERM
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_rest(child)
    os._exit(code)


def _terminate(_number: int, _frame: object) -> None:
    raise _TerminatedError


def _become(command: list[str]) -> NoReturn:
    """Replace the forked child by the command."""
    os.setpgid(0, 0)  # a command that kills its own group must not kill this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    if _IS_LINUX:
        ctypes.CDLL(None).prctl(_SIGNAL_WHEN_PARENT_DIES, signal.SIGKILL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(CANNOT_START)


def _code_of(child: int) -> int:
    """Wait for the child and return its exit code as a shell would; other orphans are reaped."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            if code < 0:  # ended by a signal
                return 128 - code
            return code


def _end_rest(child: int) -> None:
    """Kill the command's group, then all children until none is left.

    The children of a killed process become ours, so this takes several rounds.
    """
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # they have ended
    while _IS_LINUX and (left := _children()):
        try:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        except PermissionError:
            return  # it changed its user, and only that user can kill it
        for pid in left:
            os.waitpid(pid, 0)


def _children() -> list[int]:
    """Return the ids of this process's children."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_bytes().rpartition(b")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if parent == os.getpid():
            found.append(int(entry.parent.name))
    return found


def _cut_network() -> None:
    """Move to a network with only a loopback, in a new user namespace where that is needed."""
    libc = ctypes.CDLL(None, use_errno=True)
    user = os.geteuid()
    group = os.getegid()
    if libc.unshare(_NEW_NETWORK) != 0:
        if libc.unshare(_NEW_USERS | _NEW_NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        # In the new namespace this user and group keep their numbers.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
