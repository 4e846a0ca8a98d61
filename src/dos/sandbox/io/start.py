"""The command that starts a program through the launcher, and the descriptor with its orders.

The launcher's code and its orders travel through an unnamed file: an upgrade of the package under
a running worker changes nothing for it, and no other process can read them in a command line.
"""

import marshal
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from tempfile import TemporaryFile
from types import CodeType
from typing import IO, Any

from msgspec import to_builtins

from dos.agents.adapter import LAUNCH_FAILED
from dos.sandbox.walls import Ports, Walls

END_ALL = signal.SIGUSR1  # tells a launcher to kill its program and all that it started
_PACKAGE = "dos.sandbox.io.launcher"
# Each in the order of their imports.
_MODULES: tuple[str, ...] = ("kernel", "cgroup", "keeper", "main")
_MODULES_OF_WALLS = ("kernel", "landlock", "seccomp", "namespaces")
MODULES_OF_PROBE = (*_MODULES_OF_WALLS, "probe")
# The first line is in the command line of every launcher, also of those of other versions.
_MARK = "# starts a program for dos"
_BOOT = f"""{_MARK}
import marshal, sys
with open(int(sys.argv[1]), "rb") as orders:
    modules, given = marshal.load(orders)
for name, code in modules:
    sys.modules[name] = type(sys)(name)
    exec(code, sys.modules[name].__dict__)
sys.modules[name].main(given)
"""


@cache
def launcher_code() -> dict[str, CodeType]:
    """The modules of the launcher, compiled. Loaded once, and before an upgrade can change them."""
    modules = {}
    for name in {*MODULES_OF_PROBE, *_MODULES}:
        full_name = f"{_PACKAGE}.{name}"
        spec = find_spec(full_name)
        assert spec is not None and spec.loader is not None
        code = spec.loader.get_code(full_name)  # type: ignore[attr-defined]
        modules[name] = code
    return modules


def is_launcher(command: Sequence[str]) -> bool:
    """Whether a command line is that of a launcher."""
    return any(word.startswith(_MARK) for word in command[1:])


@contextmanager
def launch_command(
    argv: Sequence[str], walls: Walls | None = None
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The command to start instead of `argv`, and the descriptors that it must inherit.

    They are valid until the end of the block. Raises ValueError for a NUL in a word.
    """
    words = list(argv)
    modules = _MODULES
    orders: dict[str, Any] = {"walls": None}
    inherited: tuple[int, ...] = ()
    if walls:
        words = [*walls.program, *argv]
        modules = (*_MODULES_OF_WALLS, *_MODULES[1:])
        ruleset = _ports_ruleset(walls.bind_ports, walls.connect_ports)
        if ruleset >= 0:
            inherited = (ruleset,)
        orders["walls"] = to_builtins(walls) | {"ports_ruleset": ruleset}
    if any("\0" in word for word in words):
        raise ValueError("embedded null byte")
    orders |= {
        "parent": os.getpid(),
        "argv": words,
        "failed": LAUNCH_FAILED,
        "end_all": END_ALL.value,
    }
    with bare_command(modules, orders) as (command, descriptor):
        yield command, (descriptor, *inherited)


@cache
def _ports_ruleset(bind: Ports | None, connect: Ports | None) -> int:
    """The descriptor of the rules on ports; -1: there are none, or the launcher has to make them.

    There are some 28,000, which takes as long as two starts. They are made once in a process and
    are used for all of its programs.
    """
    if bind is None and connect is None:
        return -1
    from dos.sandbox.io.launcher.landlock import make_ports_ruleset

    try:
        return make_ports_ruleset(bind, connect)
    except OSError:
        return -1  # the launcher says why


@contextmanager
def bare_command(modules: Sequence[str], orders: dict[str, Any]) -> Iterator[tuple[list[str], int]]:
    """A command that runs `main` of the last module in a bare interpreter, with orders."""
    named = [(f"{_PACKAGE}.{name}", launcher_code()[name]) for name in modules]
    with _unnamed_file() as file:
        file.write(marshal.dumps((named, orders)))
        file.flush()
        file.seek(0)
        yield [sys.executable, "-I", "-S", "-c", _BOOT, str(file.fileno())], file.fileno()


def _unnamed_file() -> IO[bytes]:
    """A file without a name: in memory where the system has that, so that a full disk is no bar."""
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it
            return os.fdopen(os.memfd_create("dos-orders"), "w+b")
    return TemporaryFile()
