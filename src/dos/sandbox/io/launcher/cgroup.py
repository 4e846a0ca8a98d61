"""A cgroup for a program, where this user may make one: the kernel then knows all that it started.

It ends with the keeper of the program. A keeper that was killed leaves it, and its name says of
whom it was, so that any `dos` that comes by can end what is in it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import time

from dos.sandbox.io.launcher.kernel import KernelError, call, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLONE3 = 435  # the number of the system call, the same on every architecture
_INTO_CGROUP = 0x2_0000_0000
_END_SECONDS = 5.0  # for killed processes to end; one that is stuck in the kernel is left
_PAUSE_SECONDS = 0.001


def make_cgroup() -> str:
    """Make a cgroup for what this process starts, and return its path; empty: there is none.

    Only below the cgroup of this process, where a system that delegates it lets its user write.
    """
    above = _own_cgroup()
    if not above:
        return ""
    path = f"{above}/{_prefix()}{os.getpid()}-{_started(os.getpid())}"
    try:
        os.mkdir(path)
    except OSError:
        return ""
    return path


def fork_into(path: str) -> int:
    """Fork as `os.fork` does, the child into a cgroup; where that cannot be, beside this process.

    By `clone3`: a process that moves later makes every fork and exit of the system wait for it.
    For a process without threads.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return os.fork()
    arguments = (ctypes.c_uint64 * 11)(_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD)
    arguments[10] = descriptor
    try:
        child = call(_CLONE3, arguments, ctypes.sizeof(arguments))
    except KernelError:  # before Linux 5.7, or a container forbids it
        child = os.fork()
    os.close(descriptor)
    return child


def end_cgroup(path: str, reap: Callable[[], None]) -> None:
    """Kill all that is in a cgroup, and remove it once `reap` has taken what has ended."""
    try:
        _write(f"{path}/cgroup.kill", "1")
    except OSError:
        _kill_each(path)  # before Linux 5.14
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        try:
            os.rmdir(path)
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                return
        reap()
        time.sleep(_PAUSE_SECONDS)


def end_abandoned_cgroups() -> int:
    """End the cgroups beside this process whose keepers have ended, and return how many."""
    above = _own_cgroup()
    try:
        names = os.listdir(above) if above else []
    except OSError:
        return 0
    ended = 0
    for name in names:
        pid, _, started = name.removeprefix(_prefix()).partition("-")
        if name.startswith(_prefix()) and pid.isdigit() and _started(int(pid)) != started:
            end_cgroup(f"{above}/{name}", reap=lambda: None)
            ended += 1
    return ended


def _prefix() -> str:
    """How the names begin of cgroups whose keepers have their numbers from the same table."""
    try:
        return f"dos-{os.stat('/proc/self/ns/pid').st_ino}-"
    except OSError:
        return "dos-0-"


def _own_cgroup() -> str:
    """The folder of the cgroup that this process is in; empty without cgroups of version 2."""
    try:
        inside = next(
            line[3:].strip() for line in _lines("/proc/self/cgroup") if line.startswith("0::/")
        )
        mount = next(line for line in _lines("/proc/self/mountinfo") if " - cgroup2 " in line)
    except (OSError, StopIteration):
        return ""
    root, place = mount.split(" ")[3:5]
    if root != "/" and inside != root and not inside.startswith(f"{root}/"):
        return ""
    below = inside if root == "/" else inside[len(root) :]
    return f"{place}{below}".rstrip("/")


def _kill_each(path: str) -> None:
    try:
        pids = [int(line) for line in _lines(f"{path}/cgroup.procs")]
    except OSError:
        return
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended, or is another user's


def _started(pid: int) -> str:
    """When a process started, in ticks since the system did; empty for one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read().splitlines()


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
