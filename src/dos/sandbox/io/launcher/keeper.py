"""Keeps a program: none of what it started survives it, nor the death of the process above.

The keeper is the program's parent and inherits whatever the program orphans, however that
detached. It ends all of it when the program has ended or when its own parent dies. In a pid
namespace the kernel does the same: everything ends with the first process of the namespace.
"""

from __future__ import annotations

import os
import time

from dos.sandbox.io.launcher.kernel import die_with_parent, forbid_reading_memory, prctl, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_SET_CHILD_SUBREAPER = 36
_KILL_SECONDS = 5.0  # for killed processes to end; one that is stuck in the kernel is left
_PAUSE_SECONDS = 0.001
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def become_keeper(parent: int, end_all: int) -> bool:
    """Inherit orphans and notice the parent's end from now on; False when it has ended already.

    The signal `end_all` then tells this process to kill everything. It is sent by the parent, and
    by the kernel when the parent dies.
    """
    # Blocked signals wait until `watch` asks for them.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, end_all, *_PASSED_ON))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would lose exit codes
    prctl(_SET_CHILD_SUBREAPER, 1)
    return die_with_parent(parent, end_all)


def watch(child: int, end_all: int) -> int:
    """Wait until the child has ended, and return its wait status; other orphans are reaped.

    SIGTERM, SIGHUP and SIGINT are passed on to the child's group; `end_all` kills everything.
    """
    wake = (signal.SIGCHLD, end_all, *_PASSED_ON)
    while True:
        status = _reap(child)
        if status is not None:
            return status
        number = signal.sigwait(wake)
        if number == end_all:
            end_group(child)
            end_descendants(child)
            return signal.SIGKILL
        if number != signal.SIGCHLD:
            _signal_group(child, number)


def _reap(child: int) -> int | None:
    """Take the status of all that has ended; that of the child, if it is among them."""
    status = None
    while True:
        try:
            ended, ended_with = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if ended == child:
            status = ended_with
        if ended == 0:
            return status


def end_group(child: int) -> None:
    """Kill the group of the child."""
    _signal_group(child, signal.SIGKILL)


def _signal_group(child: int, number: int) -> None:
    for send in (os.killpg, os.kill):  # before the child has a group of its own: it alone
        try:
            send(child, number)
            return
        except (ProcessLookupError, PermissionError):
            pass


def end_descendants(child: int = 0) -> None:
    """Kill every descendant of this process, until none is left or is stuck.

    The children of a killed process become ours. One that forks all the time is met by asking
    again at once: each of its generations is our child before it can fork the next.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    own = os.getpid()
    while time.monotonic() < deadline:
        _reap(child)
        children = _children_of(own)
        if not children:
            return
        killed = [_kill(pid) for pid in _with_descendants(children)]
        if not any(killed):
            return  # others changed their user, and only that user can kill them
        time.sleep(_PAUSE_SECONDS)


def _kill(pid: int) -> bool:
    """Kill a process; False when this user may not."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def _with_descendants(pids: list[int]) -> list[int]:
    """The processes and all that descends from them, parents first."""
    family = list(pids)
    for pid in family:
        family += [child for child in _children_of(pid) if child not in family]
    return family


def _children_of(pid: int) -> list[int]:
    """The children of a process; of one that has ended, none."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    except OSError:
        if os.path.exists(f"/proc/{pid}/task/{pid}/children") or not os.path.exists("/proc/1"):
            return children  # a thread has ended
        return _children_by_scan(pid)
    return children


def _children_by_scan(parent: int) -> list[int]:
    """The same on a kernel that lists no children."""
    children = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            children.append(int(name))
    return children


def exit_with(status: int) -> NoReturn:
    """End this process as another one ended: with the same code, or by the same signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        forbid_reading_memory()  # no core of this process beside that of the program
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
