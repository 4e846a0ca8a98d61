"""Try each kind of wall in a process of its own, and print which ones the kernel puts up."""

from __future__ import annotations

import errno
import os

from dos.sandbox.io.launcher.kernel import forbid_new_privileges
from dos.sandbox.io.launcher.landlock import restrict, version
from dos.sandbox.io.launcher.namespaces import enter, enter_process_table
from dos.sandbox.io.launcher.seccomp import install_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def main(orders: dict[str, Any]) -> None:
    """Print the version of Landlock, then a line for each kind of wall: empty, or why not."""
    walls = orders["walls"]
    abi = version()
    report = [str(abi)]
    landlock_missing = "the kernel does not have it, or does not allow it"
    if abi:
        landlock_missing = _try(lambda: restrict(walls | {"landlock_abi": abi}))
    report.append(landlock_missing)
    report.append(_try(lambda: install_filter(no_sockets=True)))
    report.append(_try(lambda: _enter_namespaces(walls)))
    os.write(1, "\n".join(report).encode())


def _enter_namespaces(walls: dict[str, Any]) -> None:
    """Enter namespaces and their process table, as the launcher does."""
    enter(walls)
    child = os.fork()
    if child == 0:
        os._exit(_number_of(enter_process_table))
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(abs(number), os.strerror(abs(number)), "the process table")


def _number_of(attempt: Callable[[], None]) -> int:
    try:
        attempt()
    except OSError as error:
        return error.errno or errno.EINVAL
    return 0


def _try(attempt: Callable[[], None]) -> str:
    """Why an attempt fails in a process of its own; empty when it does not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        why = ""
        try:
            forbid_new_privileges()
            attempt()
        except OSError as error:
            why = f"{error.strerror}"
            if error.filename:
                why = f"{error.filename}: {error.strerror}"
        os.write(writer, why.encode("utf-8", "replace"))
        os._exit(0)
    os.close(writer)
    status = os.waitpid(child, 0)[1]
    why = os.read(reader, 1000).decode("utf-8", "replace").replace("\n", " ")
    os.close(reader)
    if status and not why:
        return f"the attempt ended with {os.waitstatus_to_exitcode(status)}"
    return why
