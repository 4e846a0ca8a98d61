"""Where a worker runs: on this host, as a process of its own. The journal alone says who may be started, and when."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from dos.sources import processes
from dos.sources.processes import Identity


class Executor(Protocol):
    """Starting is neither durable nor done exactly once; what is written around it is."""

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path) -> Identity: ...

    def take_in(self) -> None:
        """Forget those that have ended."""
        ...


class LocalExecutor:
    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path) -> Identity:
        """A session of its own: it outlives the supervisor, and Ctrl-C on the supervisor does not reach it."""
        with log.open("wb") as output:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "dos", *words],
                cwd=cwd,
                env=processes.child_environment(os.environ, cwd),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children.append(child)
        return processes.identify(child.pid) or Identity(child.pid, 0.0)

    def take_in(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]
