"""Seccomp: refuse the few system calls that go around the other walls.

`prlimit` of another process can end it, TIOCSTI types into a terminal, and the keyrings of the
kernel hold what other programs of the user have put there. Where sockets are
closed, `socket(AF_UNIX)` and io_uring, which can open one too; `socketpair` stays.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from dos.sandbox.io.launcher.kernel import KernelError, prctl

_SET_SECCOMP = 22
_FILTER = 2
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_ABSENT = 0x00050000 | errno.ENOSYS
_AF_UNIX = 1
_TYPING = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_X32 = 0x40000000
_IO_URING = (425, 426, 427)  # the same on every architecture

# Offsets into the description of a call: number, architecture, then six arguments of 8 bytes, of
# which the lower half comes first: all machines below are little-endian.
_NUMBER = 0
_ARCHITECTURE = 4
_FIRST = 16
_SECOND = 24
_THIRD = 32

# Instructions of the kernel's filter machine.
_LOAD = 0x20
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_RETURN = 0x06

# Of each architecture that one machine can run: prlimit64, ioctl, socket, and socketcall, which
# takes its arguments from memory where a filter cannot see them.
_CALLS = {
    0xC000003E: (302, 16, 41, None),  # x86-64
    0x40000003: (340, 54, 359, 102),  # its 32-bit programs
    0xC00000B7: (261, 29, 198, None),  # arm64
    0x40000028: (369, 54, 281, 102),  # its 32-bit programs
    0xC00000F3: (261, 29, 198, None),  # riscv64
}
# add_key, request_key and keyctl of each.
_KEYRINGS = {
    0xC000003E: (248, 249, 250),
    0x40000003: (286, 287, 288),
    0xC00000B7: (217, 218, 219),
    0x40000028: (309, 310, 311),
    0xC00000F3: (217, 218, 219),
}
_MACHINES = {
    "x86_64": (0xC000003E, 0x40000003),
    "aarch64": (0xC00000B7, 0x40000028),
    "riscv64": (0xC00000F3,),
}


def is_known() -> bool:
    """Whether the numbers of this machine's system calls are known here."""
    return os.uname().machine in _MACHINES


def install_filter(*, no_sockets: bool) -> None:
    """Install the filter. Raises KernelError where the kernel does not take it."""
    machines = _MACHINES.get(os.uname().machine)
    if machines is None:
        raise KernelError(errno.ENOSYS, f"no filter for {os.uname().machine}", "seccomp")
    code = b"".join(_program(machines, no_sockets=no_sockets))
    instructions = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: a count, and a pointer that is aligned to 8 bytes.
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions))
    buffer = ctypes.create_string_buffer(header, len(header))
    prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(buffer), about="seccomp")


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _program(machines: tuple[int, ...], *, no_sockets: bool) -> list[bytes]:
    """The filter: a block for each architecture; a call of any other is refused."""
    program = []
    for machine in machines:
        block = _block(machine, no_sockets=no_sockets)
        program += [
            _instruction(_LOAD, _ARCHITECTURE),
            _instruction(_IF_EQUAL, machine, 0, len(block)),
            *block,
        ]
    return [*program, _instruction(_RETURN, _REFUSE)]


def _block(machine: int, *, no_sockets: bool) -> list[bytes]:
    """What one architecture may call. Each rule leaves the number of the call loaded."""
    prlimit, ioctl, socket, socketcall = _CALLS[machine]
    block = [_instruction(_LOAD, _NUMBER)]
    if machine == 0xC000003E:
        block += [
            _instruction(_IF_AT_LEAST, _X32, 0, 1),
            _instruction(_RETURN, _ABSENT),
        ]
    block += _if_call(prlimit, _unless_own_limit())
    block += _if_call(ioctl, _refuse_values(_SECOND, _TYPING))
    for number in _KEYRINGS[machine]:
        block += _if_call(number, [_instruction(_RETURN, _REFUSE)])
    if no_sockets:
        block += _if_call(socket, _refuse_values(_FIRST, (_AF_UNIX,)))
        if socketcall is not None:
            block += _if_call(socketcall, [_instruction(_RETURN, _REFUSE)])
        for number in _IO_URING:
            block += _if_call(number, [_instruction(_RETURN, _ABSENT)])
    return [*block, _instruction(_RETURN, _ALLOW)]


def _if_call(number: int, then: list[bytes]) -> list[bytes]:
    """Do something for one call, and then let it pass."""
    then = [*then, _instruction(_RETURN, _ALLOW)]
    return [_instruction(_IF_EQUAL, number, 0, len(then)), *then]


def _refuse_values(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse the call for these values of an argument."""
    checks = [_instruction(_LOAD, argument)]
    for value in values:
        checks += [_instruction(_IF_EQUAL, value, 0, 1), _instruction(_RETURN, _REFUSE)]
    return checks


def _unless_own_limit() -> list[bytes]:
    """Refuse prlimit with another pid than 0 when it sets a limit; reading one is harmless."""
    return [
        _instruction(_LOAD, _FIRST),
        _instruction(_IF_EQUAL, 0, 5, 0),  # its own
        _instruction(_LOAD, _THIRD),
        _instruction(_IF_EQUAL, 0, 0, 2),
        _instruction(_LOAD, _THIRD + 4),
        _instruction(_IF_EQUAL, 0, 1, 0),  # no new limit
        _instruction(_RETURN, _REFUSE),
    ]
