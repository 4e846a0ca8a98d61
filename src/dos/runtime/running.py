"""Runs a program for us: in a session of its own, every line kept, with clocks that end it.

Agents, acceptance commands and tests all go through here.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO

from msgspec import Struct

from dos.agents.adapter import LAUNCH_FAILED

GRACE_SECONDS = 5.0  # between asking a program to end and ending it
LINGER_SECONDS = 1.0  # for what is still in the pipe when the program itself has ended
LINES_KEPT = 20_000
LONGEST_LINE = 1_000_000
LARGEST_LOG = 64_000_000

# The program must not outlive us: set by a process that then becomes the program, since a function run between fork
# and exec of a process with threads could hang. SIGPIPE is given back its meaning, which Python takes away.
_LEASH = f"""
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit({LAUNCH_FAILED})
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.stderr.write(f"{{sys.argv[2]}}: {{error.strerror}}\\n")
    sys.exit({LAUNCH_FAILED})
"""


class Ran(Struct, frozen=True, kw_only=True):
    exit_code: int
    lines: list[str]  # the last ones
    timed_out: bool
    stopped: bool
    seconds: float
    output_digest: str = ""  # of every byte that it printed, as far as it was heard


class Limits(Struct, frozen=True, kw_only=True):
    wall_seconds: float
    silence_seconds: float = float("inf")


def never() -> bool:
    return False


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    limits: Limits,
    feed: str = "",
    log: Path | None = None,
    stopped: Callable[[], bool] = never,
) -> Ran:
    began = time.monotonic()
    output = (
        log.open("wb", buffering=0) if log else None
    )  # before anything is started: what cannot be logged is not begun
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _LEASH, str(os.getpid()), *argv],
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    listening = _Listening(process, feed, output)
    try:
        timed_out, was_stopped = _wait(process, listening, limits, stopped)
    finally:
        _end(process)
        listening.finish()
    return Ran(
        exit_code=process.returncode,
        lines=listening.lines(),
        timed_out=timed_out,
        stopped=was_stopped,
        seconds=time.monotonic() - began,
        output_digest=listening.digest.hexdigest(),
    )


def _wait(
    process: "subprocess.Popen[bytes]", listening: "_Listening", limits: Limits, stopped: Callable[[], bool]
) -> tuple[bool, bool]:
    """Until the program itself has ended, whatever its pipe says; or until a clock, or we, have had enough."""
    deadline = time.monotonic() + limits.wall_seconds
    while True:
        try:
            process.wait(timeout=0.05)
            return False, False
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if stopped():
                return False, True
            if now > deadline or now - listening.heard_at > limits.silence_seconds:
                return True, False


class _Listening:
    """Two threads: one feeds the program, one takes what it prints, in pieces, so that no line is too long."""

    def __init__(self, process: "subprocess.Popen[bytes]", feed: str, log: IO[bytes] | None) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.heard_at = time.monotonic()
        self.digest = sha256()
        self._kept: deque[str] = deque(maxlen=LINES_KEPT)
        self._open = b""
        self._log = log
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()
        threading.Thread(target=_feed, args=(process.stdin, feed.encode()), daemon=True).start()

    def finish(self) -> None:
        self._reader.join(timeout=LINGER_SECONDS)

    def lines(self) -> list[str]:
        rest = [self._open.decode("utf-8", "replace")] if self._open else []
        return [*self._kept, *rest]

    def _read(self, pipe: IO[bytes]) -> None:
        room = LARGEST_LOG
        while piece := os.read(pipe.fileno(), 65536):
            self.heard_at = time.monotonic()
            self.digest.update(piece)
            if self._log and room > 0:
                room -= self._keep(self._log, piece)
            *whole, self._open = (self._open + piece).split(b"\n")
            self._open = self._open[-LONGEST_LINE:]
            self._kept.extend(line.decode("utf-8", "replace") for line in whole)
        if self._log:
            self._log.close()

    def _keep(self, log: IO[bytes], piece: bytes) -> int:
        """A disk without room costs the log, and not the program: somebody has to go on listening to it."""
        try:
            return log.write(piece)
        except OSError as error:
            sys.stderr.write(f"the log cannot be written any more: {error}\n")
            return LARGEST_LOG


def _feed(pipe: IO[bytes], text: bytes) -> None:
    try:
        pipe.write(text)
        pipe.close()
    except BrokenPipeError:
        pass  # it did not want to be told; how it ends will say more


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program and its group; who left the group is found by its environment (`leftovers`)."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # all of them have ended
