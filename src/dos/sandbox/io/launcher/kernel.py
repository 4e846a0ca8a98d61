"""System calls that Python does not offer, and signals without the cost of Python's `signal`."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # that of `typing`, whose import would double the time of a start
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
else:
    # `signal` wraps this built-in module in enumerations, which takes a third of the start-up.
    import _signal

    signal = _signal

__all__ = [
    "KernelError",
    "call",
    "close_descriptors",
    "die_with_parent",
    "drop_capabilities",
    "forbid_new_privileges",
    "forbid_reading_memory",
    "mount",
    "name_process",
    "prctl",
    "prepared_call",
    "reset_signals",
    "signal",
    "unshare",
]

_PDEATHSIG = 1
_SET_DUMPABLE = 4
_SET_NAME = 15
_CAPBSET_DROP = 24
_SET_NO_NEW_PRIVS = 38
_CAP_AMBIENT = 47
_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63  # the kernel knows fewer and refuses the rest
_CLOSE_RANGE = 436  # the number of the system call, the same on every architecture

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class KernelError(OSError):
    """A system call failed; `filename` says what it was for."""


def call(number: int, *arguments: object, about: str = "") -> int:
    """Make a system call by its number. Raises KernelError when it fails."""
    return prepared_call(number, *arguments, about=about)()


def prepared_call(number: int, *arguments: object, about: str) -> Callable[[], int]:
    """A system call that is made many times, with what its arguments point to at that time."""
    words = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument
        for argument in (number, *arguments)
    ]
    syscall = _libc.syscall

    def make() -> int:
        result: int = syscall(*words)
        if result < 0:
            raise _error(about)
        return result

    return make


def prctl(option: int, *arguments: int, about: str = "") -> None:
    """Call prctl. Raises KernelError when it fails."""
    words = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *words) != 0:
        raise _error(about or f"prctl {option}")


def unshare(flags: int, about: str) -> None:
    """Leave namespaces for new ones. Raises KernelError when it fails."""
    if _libc.unshare(flags) != 0:
        raise _error(about)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system. Raises KernelError when it fails."""
    result = _libc.mount(
        os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags),
        options.encode(),
    )  # fmt: skip
    if result != 0:
        raise _error(f"mount on {target}")


def _error(about: str) -> KernelError:
    number = ctypes.get_errno()
    return KernelError(number, os.strerror(number), about)


def die_with_parent(parent: int, number: int) -> bool:
    """Have a signal sent to this process when its parent ends; False when it has ended already."""
    prctl(_PDEATHSIG, number)
    return os.getppid() == parent


def forbid_reading_memory() -> None:
    """Close this process's environment and memory in /proc to its own user, and dump no core."""
    prctl(_SET_DUMPABLE, 0)


def name_process(name: str) -> None:
    """Set the name of this process, of which Linux keeps 15 bytes; every user can read it."""
    buffer = ctypes.create_string_buffer(name.encode())
    prctl(_SET_NAME, ctypes.addressof(buffer))


def forbid_new_privileges() -> None:
    """Let no program that is started from here gain rights by setuid or file capabilities."""
    prctl(_SET_NO_NEW_PRIVS, 1)


def close_descriptors(kept: int = -1) -> None:
    """Close every descriptor above 2: an open one passes every rule on files.

    One may be kept; no program that is started from here inherits it.
    """
    if kept < 3:
        _close_from(3)
        return
    os.set_inheritable(kept, False)
    os.closerange(3, kept)
    _close_from(kept + 1)


def _close_from(first: int) -> None:
    try:
        call(_CLOSE_RANGE, first, 0xFFFFFFFF, 0)
    except KernelError:  # before Linux 5.9
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def reset_signals() -> None:
    """Give every signal its default meaning back, and block none.

    Python ignores SIGPIPE, nohup and a shell's & ignore others, and a test must not depend on how
    the fleet was started.
    """
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def drop_capabilities() -> None:
    """Give up every capability for good, also where the user is root."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            prctl(_CAPBSET_DROP, capability)
        except KernelError:
            break  # one that this kernel does not know, or this user may not drop it
    try:
        prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL)
    except KernelError:
        pass  # before Linux 4.3
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing) != 0:
        raise _error("drop capabilities")
