"""Keeps a server running beside a supervisor, and ends it with it.

The server reads a pipe that this process holds open, so that it ends however this process ends.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

from dos.agents.homes.variables import public_variables
from dos.agents.io.logs import server_log
from dos.machine import process
from dos.workspace import Workspace

FIRST_PAUSE_SECONDS = 1.0  # before a server that ended is started again; doubled each time
LONGEST_PAUSE_SECONDS = 30.0
GRACE_SECONDS = 5.0  # for the server to end by itself


class ServerKeeper:
    """Starts `dos serve`, again whenever it ends. Where another server serves, it is left alone."""

    def __init__(self, place: Workspace) -> None:
        self._root = place.root
        self._log = server_log(place.state)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._keep, daemon=True).start()
        return self

    def __exit__(self, *ended: object) -> None:
        with self._lock:
            self._ended.set()
            child = self._child
        if child is None or child.stdin is None:
            return
        child.stdin.close()
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _keep(self) -> None:
        """Start the server until it is not wanted any more."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            with self._lock:
                if self._ended.is_set():
                    return
                self._child = child = _start(self._root, self._log)
            if child is not None:
                child.wait()
            if self._ended.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _start(root: Path, log: Path) -> "subprocess.Popen[bytes] | None":
    """Start a server whose stdin is a pipe to this process; None where the system cannot."""
    try:
        with log.open("ab") as output:
            return subprocess.Popen(
                [
                    sys.executable, "-P", "-m", "dos",
                    "--workspace", str(root), "serve", "--with-stdin",
                ],
                cwd=root,
                env=process.child_environment(public_variables(os.environ), root),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
    except OSError:
        return None
