"""Runs a command as on a kernel that lacks system calls: they fail for it and all that it starts.

    python old_kernel.py ERRNO CALLS COMMAND...

`CALLS` are `landlock`, or `landlock,unshare` where user namespaces are not allowed either.
"""

import ctypes
import os
import struct
import sys

LANDLOCK = (444, 445, 446)  # the same on every architecture
UNSHARE = {"x86_64": 272, "aarch64": 97, "riscv64": 97}


def command(number: int, calls: str, *words: str) -> list[str]:
    """The command that runs another one so."""
    return [sys.executable, __file__, str(number), calls, *words]


def refuse(numbers: tuple[int, ...], error: int) -> None:
    """A filter that answers these calls with an error."""
    rules = [struct.pack("HBBI", 0x20, 0, 0, 0)]
    for number in numbers:
        rules.append(struct.pack("HBBI", 0x15, 0, 1, number))
        rules.append(struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | error))
    rules.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    code = b"".join(rules)
    kept = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.create_string_buffer(header)) == 0


def main() -> None:
    error, calls, *words = sys.argv[1:]
    numbers = LANDLOCK
    if "unshare" in calls:
        numbers += (UNSHARE[os.uname().machine],)
    refuse(numbers, int(error))
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
