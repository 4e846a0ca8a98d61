"""A terminal that a person would sit at: the command runs in it, keys are pressed, and the screen
is read."""

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from commanding import command
from patience import PATIENCE


class Screen:
    def __init__(
        self,
        folder: Path,
        socket: Path,
        *words: str,
        program: Sequence[str] = (),
        width: int = 100,
        height: int = 24,
    ) -> None:
        """`dos` with these words, or another program for Python."""
        if shutil.which("tmux") is None:
            pytest.skip("reading a screen needs tmux")
        self._socket = socket
        words = [sys.executable, *program] if program else command(*words)
        line = (
            f"env TERM=screen LC_ALL=C.UTF-8 {shlex.join(words)}; echo left with $?; stty -a | "
            f"grep icanon; sleep 600"
        )
        self._tmux(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            str(width),
            "-y",
            str(height),
            "-c",
            str(folder),
            line,
        )

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *ended: object) -> None:
        self._tmux("kill-server", check=False)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def lines(self) -> list[str]:
        return self._tmux("capture-pane", "-p").splitlines()

    def history(self) -> list[str]:
        """With what has gone by above."""
        return self._tmux("capture-pane", "-p", "-S", "-").splitlines()

    def shows(self, text: str) -> list[str]:
        """Wait until it does; the screen as it is then."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            lines = self.lines()
            if any(text in line for line in lines):
                return lines
            time.sleep(0.1)
        raise AssertionError("\n".join([f"{text!r} does not appear on:", *self.lines()]))

    def _tmux(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout
