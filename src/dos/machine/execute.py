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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from msgspec import Struct

from dos.agents.adapter import LAUNCH_FAILED
from dos.machine import process as processes

GRACE_SECONDS = 5.0  # between asking a program to end and ending it
LINGER_SECONDS = 1.0  # for what is still in the pipe when the program itself has ended
LINES_KEPT = 20_000
LONGEST_LINE = 1_000_000
OLDER = ".older"  # in the name of the part of a log that was put aside
LARGEST_LOG = 64_000_000  # with what was put aside of it
SHORTEST_LOOK_SECONDS = 0.05
LONGEST_LOOK_SECONDS = 0.5

# The program must not outlive us: set by a process that then becomes the program, since a function run between fork
# and exec of a process with threads could hang. Signals are given back their meaning: Python takes SIGPIPE away, nohup
# and a shell's & the others, and a test must not pass or fail by how the fleet was started.
_LAUNCHER = f"""
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit({LAUNCH_FAILED})
for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.stderr.write(f"{{sys.argv[2]}}: {{error.strerror}}\\n")
    sys.exit({LAUNCH_FAILED})
"""


class EndedBy(StrEnum):
    """Why we ended a program that would have gone on."""

    SILENT = "silent"
    OVERTIME = "overtime"
    IDLE = "idle"
    STOPPED = "stopped"


class ProcessResult(Struct, frozen=True, kw_only=True):
    exit_code: int
    lines: list[str]  # the last ones
    ended_by: EndedBy | None  # it was ended by us
    seconds: float
    output_digest: str = ""  # of every byte that it printed, as far as it was heard

    @property
    def timed_out(self) -> bool:
        return self.ended_by in (EndedBy.SILENT, EndedBy.OVERTIME, EndedBy.IDLE)


class Limits(Struct, frozen=True, kw_only=True):
    wall_seconds: float
    silence_seconds: float = float("inf")
    idle_seconds: float = float("inf")  # lines, and nothing changes


def never_stop() -> bool:
    return False


def ignore_line(line: str) -> None:
    pass


def no_snapshot() -> object:
    return None


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Whoever asks us to end lets us clean up first: SIGTERM and SIGHUP leave by an exception, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, _raise_exit) for number in heeded}
    try:
        yield
    finally:
        for number, what in before.items():
            signal.signal(number, what)


def _raise_exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    limits: Limits,
    stdin_text: str = "",
    log: Path | None = None,
    should_stop: Callable[[], bool] = never_stop,
    on_line: Callable[[str], None] = ignore_line,
    snapshot: Callable[[], object] = no_snapshot,
) -> ProcessResult:
    """`heard` is told each line, from a thread of its own; `changing` is asked now and then what there is."""
    began = time.monotonic()
    with ExitStack() as opened:
        output = (
            _Log(log) if log else None
        )  # before anything is started: what cannot be logged is not begun
        if output:
            opened.callback(output.close)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid()), *argv],
            cwd=cwd,
            env=processes.child_environment(environment, cwd),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        opened.pop_all()  # now it is for who listens to close it
    listening = _OutputReader(process, stdin_text, output, on_line)
    try:
        why = _wait(process, listening, limits, should_stop, snapshot)
    finally:
        _end(process)
        listening.finish()
    return ProcessResult(
        exit_code=process.returncode,
        lines=listening.lines(),
        ended_by=why,
        seconds=time.monotonic() - began,
        output_digest=listening.digest.hexdigest(),
    )


def _wait(
    process: "subprocess.Popen[bytes]",
    listening: "_OutputReader",
    limits: Limits,
    stopped: Callable[[], bool],
    changing: Callable[[], object],
) -> EndedBy | None:
    """Until the program itself has ended, whatever its pipe says; or until a clock, or we, have had enough."""
    began = time.monotonic()
    change = _ChangeWatch(began, limits.idle_seconds)
    pause = SHORTEST_LOOK_SECONDS
    while True:
        try:
            process.wait(timeout=pause)
            return None
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            pause = min(LONGEST_LOOK_SECONDS, 1.1 * pause)
            if stopped():
                return EndedBy.STOPPED
            if now - began > limits.wall_seconds:
                return EndedBy.OVERTIME
            if now - listening.last_output_at > limits.silence_seconds:
                return EndedBy.SILENT
            if change.is_overdue(now, changing):
                return EndedBy.IDLE


class _ChangeWatch:
    """Has anything changed for so long? Looking costs something, so it is done a few times in that time."""

    def __init__(self, now: float, seconds: float) -> None:
        self._seconds = seconds
        self._looked = self._changed = now
        self._seen: object = None

    def is_overdue(self, now: float, changing: Callable[[], object]) -> bool:
        if now - self._looked < self._seconds / 8:
            return False
        self._looked, seen = now, changing()
        if seen != self._seen:
            self._seen, self._changed = seen, now
        return now - self._changed > self._seconds


class _Log:
    """What was printed, the newest part of it: once the file is full it is put aside, and another one is begun."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._aside = path.with_name(f"{path.stem}{OLDER}{path.suffix}")
        self._file: IO[bytes] | None = path.open("wb", buffering=0)
        self._size = self._removed = 0
        self._is_between_lines = True

    def write(self, piece: bytes) -> None:
        """A disk without room costs the log, and not the program: somebody has to go on listening to it."""
        if not self._file:
            return
        try:
            if self._size + len(piece) > LARGEST_LOG // 2:
                if not self._is_between_lines and b"\n" in piece:
                    end, newline, piece = piece.partition(b"\n")
                    self._put(end + newline)
                if piece:  # else nothing newer is there yet
                    self._roll()
            self._put(piece)
        except OSError as error:
            sys.stderr.write(f"the log cannot be written any more: {error}\n")
            self.close()

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def _put(self, piece: bytes) -> None:
        assert self._file
        self._size += self._file.write(piece)
        self._is_between_lines = piece.endswith(b"\n") or (not piece and self._is_between_lines)

    def _roll(self) -> None:
        assert self._file
        gone = f"; {self._removed:,} bytes before that were removed" if self._removed else ""
        self._file.close()
        self._path.replace(self._aside)
        self._file = self._path.open("wb", buffering=0)
        self._file.write(f"what was printed before this is in {self._aside.name}{gone}\n".encode())
        self._removed, self._size = self._removed + self._size, 0


class _OutputReader:
    """Two threads: one feeds the program, one takes what it prints, in pieces, so that no line is too long."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        feed: str,
        log: _Log | None,
        heard: Callable[[str], None],
    ) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.last_output_at = time.monotonic()
        self.digest = sha256()
        self._kept: deque[str] = deque(maxlen=LINES_KEPT)
        self._open = b""
        self._log = log
        self._heard = heard
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()
        threading.Thread(target=_feed, args=(process.stdin, feed.encode()), daemon=True).start()

    def finish(self) -> None:
        self._reader.join(timeout=LINGER_SECONDS)
        if self._reader.is_alive():  # somebody else has the pipe, and nobody ends the line any more
            self._hear_rest()

    def lines(self) -> list[str]:
        return [*self._kept, *self._rest()]

    def _hear_rest(self) -> None:
        for line in self._rest():
            self._heard(line)

    def _rest(self) -> list[str]:
        """A last line that nothing ends."""
        return [self._open.decode("utf-8", "replace")] if self._open else []

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe, closing(self._log) if self._log else nullcontext():
            while piece := os.read(pipe.fileno(), 65536):
                self.last_output_at = time.monotonic()
                self.digest.update(piece)
                if self._log:
                    self._log.write(piece)
                *whole, self._open = (self._open + piece).split(b"\n")
                self._open = self._open[-LONGEST_LINE:]
                for line in (each.decode("utf-8", "replace") for each in whole):
                    self._kept.append(line)
                    self._heard(line)
        self._hear_rest()


def _feed(pipe: IO[bytes], text: bytes) -> None:
    try:
        with pipe:
            pipe.write(text)
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
