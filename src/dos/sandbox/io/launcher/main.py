"""The launcher: start one program in a session of its own, with its walls, and keep it.

Orders are plain values: `parent` (who must still be alive), `argv`, `failed` (the exit code of a
start that failed), `end_all` (the signal that ends everything) and `walls` (the fields of
`dos.sandbox.walls.Walls`, or None; and `ports_ruleset`, the descriptor of the rules on ports, or
-1).
"""

from __future__ import annotations

import os
import sys

from dos.sandbox.io.launcher.cgroup import end_cgroup, fork_into, make_cgroup
from dos.sandbox.io.launcher.keeper import (
    become_keeper,
    end_descendants,
    end_group,
    exit_with,
    watch,
)
from dos.sandbox.io.launcher.kernel import (
    close_descriptors,
    die_with_parent,
    drop_capabilities,
    forbid_new_privileges,
    reset_signals,
    signal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

IS_LINUX = sys.platform == "linux"


def main(orders: dict[str, Any]) -> NoReturn:
    """Start the program and end as it ends. On systems other than Linux, become it."""
    # A fault of the launcher is a start that failed, and not an answer of the program.
    sys.excepthook = lambda _kind, error, _trace: _fail(orders, f"the launcher failed: {error!r}")
    if not IS_LINUX:
        if os.getppid() != orders["parent"]:
            os._exit(orders["failed"])
        reset_signals()
        _execute(orders)
    if not become_keeper(orders["parent"], orders["end_all"]):
        os._exit(orders["failed"])
    walls = orders["walls"]
    close_descriptors(kept=walls["ports_ruleset"] if walls else -1)
    if walls and walls["refusal"]:
        _fail(orders, walls["refusal"])
    if walls and walls["namespaces"]:
        status = _run_in_namespaces(orders)
    else:
        status = _run_kept(orders)
    end_descendants()
    exit_with(status)


def _run_kept(orders: dict[str, Any]) -> int:
    """Run the program in a cgroup of its own, if there can be one, and return its wait status."""
    cgroup = make_cgroup()
    child = _fork_program(orders, cgroup)
    status = watch(child, orders["end_all"])
    end_group(child)
    if cgroup:
        end_cgroup(cgroup, reap=end_descendants)
    return status


def _run_in_namespaces(orders: dict[str, Any]) -> int:
    """Run the program in namespaces of its own, and return its wait status.

    Their first process reports it through a pipe: that process cannot end by a signal, as the
    program can.
    """
    from dos.sandbox.io.launcher.namespaces import enter

    try:
        enter(orders["walls"])
    except OSError as error:
        _fail(orders, f"no namespaces of its own: {_describe(error)}")
    # New namespaces are new credentials, with which the kernel forgets this setting.
    if not die_with_parent(orders["parent"], orders["end_all"]):
        os._exit(orders["failed"])
    reader, writer = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(reader)
        _be_first_process(orders, writer)
    os.close(writer)
    status = watch(first, orders["end_all"])
    report = os.read(reader, 9)[1:]
    if not report:
        return status
    return int.from_bytes(report, "little")


def _be_first_process(orders: dict[str, Any], writer: int) -> NoReturn:
    """Be the first process of a pid namespace: reap all others, and end with the program."""
    from dos.sandbox.io.launcher.namespaces import enter_process_table

    os.setsid()
    die_with_parent(0, signal.SIGKILL)
    os.write(writer, b"!")  # fails when the keeper died before the line above
    try:
        enter_process_table()
        drop_capabilities()
    except OSError as error:
        _fail(orders, f"no process table of its own: {_describe(error)}")
    status = watch(_fork_program(orders), orders["end_all"])
    os.write(writer, status.to_bytes(8, "little"))
    os._exit(0)


def _fork_program(orders: dict[str, Any], cgroup: str = "") -> int:
    """Start the program as a child of this process."""
    own = os.getpid()
    child = fork_into(cgroup) if cgroup else os.fork()
    if child == 0:
        _become_program(orders, own)
    return child


def _become_program(orders: dict[str, Any], keeper: int) -> NoReturn:
    """Become the program, in a session of its own: a terminal that it opens is not the user's."""
    os.setsid()
    if not die_with_parent(keeper, signal.SIGKILL):
        os._exit(orders["failed"])
    reset_signals()
    if orders["walls"] and not orders["walls"]["program"]:
        try:
            _put_up(orders["walls"])
        except OSError as error:
            _fail(orders, f"no walls around it: {_describe(error)}")
    _execute(orders)


def _put_up(walls: dict[str, Any]) -> None:
    """Put up the walls around this process. Raises OSError where one of them is not possible."""
    forbid_new_privileges()
    drop_capabilities()
    if walls["seccomp"]:
        from dos.sandbox.io.launcher.seccomp import install_filter

        install_filter(no_sockets=walls["no_sockets"])
    if walls["landlock_abi"]:
        from dos.sandbox.io.launcher.landlock import restrict

        restrict(walls)


def _execute(orders: dict[str, Any]) -> NoReturn:
    """Become the program, or say why that failed."""
    argv = orders["argv"]
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        _fail(orders, f"{argv[0]}: {error.strerror}")


def _fail(orders: dict[str, Any], why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    os._exit(orders["failed"])


def _describe(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error.strerror)
