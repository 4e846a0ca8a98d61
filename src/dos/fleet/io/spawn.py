"""Where a worker runs: on this host, as a process of its own. The journal alone says who may be started, and when."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

from dos.machine import process
from dos.machine.process import Identity

# What `dos worker` exits with ("journal-away") when it could not reach the journal, and so could not say why it stops.
JOURNAL_AWAY = 4


class Executor(Protocol):
    """Starting is neither durable nor done exactly once; what is written around it is."""

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path, given: str = "") -> Identity:
        """`given` is what it reads from its standard input."""
        ...

    def take_in(self) -> dict[int, int]:
        """Forget those that have ended; the exit code of each, by its pid."""
        ...


class LocalExecutor:
    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path, given: str = "") -> Identity:
        """A session of its own: it outlives the supervisor, and Ctrl-C on the supervisor does not reach it."""
        # A file without a name: nobody can write to it, and unlike a pipe it takes all of it at once.
        with log.open("wb") as output, TemporaryFile() as text:
            text.write(given.encode())
            text.seek(0)
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "dos", *words],
                cwd=cwd,
                env=process.child_environment(os.environ, cwd),
                stdin=text,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children.append(child)
        return process.identify(child.pid) or Identity(child.pid, 0.0)

    def take_in(self) -> dict[int, int]:
        ended = {
            child.pid: child.returncode for child in self._children if child.poll() is not None
        }
        self._children = [child for child in self._children if child.pid not in ended]
        return ended
