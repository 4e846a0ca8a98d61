"""Starting a program: with each kind of wall and without, beside a launcher that only starts it."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dos.machine import execute
from dos.sandbox.build import Folders, build
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.sandbox.walls import Walls
from table import median, show

ROUNDS = 25
# The launcher of the version before: it dies with its parent, resets signals, becomes the program.
ONLY_STARTS = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(120)
for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def only_start(folder: Path) -> None:
    words = [sys.executable, "-I", "-S", "-c", ONLY_STARTS, str(os.getpid()), "true"]
    process = subprocess.Popen(
        words,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    process.communicate()


def with_walls(walls: Walls | None) -> Callable[[Path], None]:
    def start(folder: Path) -> None:
        process = execute.start(
            ["true"],
            cwd=folder,
            environment=dict(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            walls=walls,
        )
        process.communicate()
        assert process.returncode == 0

    return start


def ways(folder: Path) -> dict[str, Callable[[Path], None]]:
    """Each way to start a program, by its name. Those that this system lacks are left out."""
    folders = Folders(
        lane=str(folder),
        tmp=str(folder / "tmp"),
        home=str(folder / "home"),
        writable=(str(folder),),
        readable=(sys.base_prefix, sys.prefix),
        ports=range(21_000, 21_010),
    )

    def walls(**settings: str) -> Walls | None:
        return build(Sandbox(**settings), probe(), folders)  # type: ignore[arg-type]

    found = {"only starts it (the version before)": only_start, "keeps it": with_walls(None)}
    if probe().has_files:
        found["landlock, seccomp"] = with_walls(walls(level="landlock", network="open"))
        found["landlock, seccomp, ports"] = with_walls(walls(level="landlock"))
    if probe().namespaces:
        found["namespaces too"] = with_walls(walls(level="auto", network="open"))
        found["namespaces too, ports"] = with_walls(walls(level="auto"))
    return found


def children_seconds() -> float:
    """The processor time of all programs that have ended; a busy machine changes it little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("tmp", "home"):
            (folder / part).mkdir()
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways(folder)}
        for _ in range(ROUNDS):
            for way, start in ways(folder).items():
                began, used = time.perf_counter(), children_seconds()
                start(folder)
                ended = time.perf_counter() - began, children_seconds() - used
                taken[way].append(ended)
    rows = []
    first: tuple[float, float] | None = None
    for way, times in taken.items():
        wall, cpu = (1000 * median([row[column] for row in times]) for column in (0, 1))
        first = first or (wall, cpu)
        rows.append((way, wall, wall / first[0], cpu, cpu / first[1]))
    show("Starting a program", ("the launcher", "ms", "ratio", "CPU ms", "ratio"), rows)


if __name__ == "__main__":
    main()
