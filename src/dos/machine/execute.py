"""Run a program in a session of its own, keep its last lines, and end it at its limits.

Agents, acceptance commands and tests all run through here.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from msgspec import Struct

from dos.machine.process import child_environment
from dos.sandbox.io.start import END_ALL, launch_command
from dos.sandbox.walls import Walls

GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
KEEPER_SECONDS = 10.0  # for the keeper to kill what is left
LINGER_SECONDS = 1.0  # for what is still in the pipe when the program has ended
LINES_KEPT = 20_000
LONGEST_LINE = 1_000_000
OLDER = ".older"  # in the name of the older half of a log
LARGEST_LOG = 64_000_000  # both halves together
SHORTEST_POLL_SECONDS = 0.05
LONGEST_POLL_SECONDS = 0.5


class EndedBy(StrEnum):
    """Which limit ended a program."""

    SILENT = "silent"
    OVERTIME = "overtime"
    IDLE = "idle"
    STOPPED = "stopped"


class ProcessResult(Struct, frozen=True, kw_only=True):
    """How a program ended, and the last lines that it printed."""

    exit_code: int
    lines: list[str]
    ended_by: EndedBy | None  # None: it ended by itself
    seconds: float
    output_digest: str = ""  # of every byte that was read from it

    @property
    def timed_out(self) -> bool:
        return self.ended_by in (EndedBy.SILENT, EndedBy.OVERTIME, EndedBy.IDLE)


def never_stop() -> bool:
    """The `should_stop` of a program that only its time limits end."""
    return False


def no_snapshot() -> object:
    """The `snapshot` of a program without an idle limit."""
    return None


def ignore_line(_line: str) -> None:
    """The `on_line` of a program whose lines are only kept."""


class Limits(Struct, frozen=True, kw_only=True):
    """When to end a program before it ends by itself."""

    wall_seconds: float
    silence_seconds: float = float("inf")  # without any output
    idle_seconds: float = float("inf")  # with output, but without a change of `snapshot`
    should_stop: Callable[[], bool] = never_stop
    snapshot: Callable[[], object] = no_snapshot  # what the program is expected to change
    snapshot_seconds: float = float("inf")  # take one this often, also without an idle limit


class Output(Struct, frozen=True, kw_only=True):
    """What to do with the output of a program, besides keeping its last lines."""

    log: Path | None = None
    on_line: Callable[[str], None] = ignore_line  # called from the thread that reads


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit in the block, so that it can clean up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            previous[number] = signal.signal(number, _raise_exit)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _raise_exit(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    stdin: IO[bytes] | int,
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
    walls: Walls | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a program in a session of its own; `end` ends it.

    The three streams are files, or constants of `subprocess`. Every program of an agent or of a
    lane starts here, with `walls` that say what it may touch. On Linux the process is the program's
    keeper: all that the program started ends with it or with this process, whichever is first.
    Elsewhere it is the program.
    """
    with launch_command(argv, walls) as (command, descriptors):
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=child_environment(environment, cwd),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=descriptors,
            start_new_session=True,
        )


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    limits: Limits,
    stdin_text: str = "",
    output: Output = Output(),
    walls: Walls | None = None,
) -> ProcessResult:
    """Run a program until it ends or a limit ends it, and return how it ended.

    A program that does not exist ends with `LAUNCH_FAILED`. On Linux all that it started ends with
    it or with this process, whichever is first; elsewhere the processes of its group do. Where its
    walls refuse a start, or one of them cannot be put up, it ends with `LAUNCH_FAILED` too.
    Raises OSError when the log cannot be opened; then nothing is started.
    """
    began = time.monotonic()
    with ExitStack() as opened:
        log = None
        if output.log:
            log = _Log(output.log)
            opened.callback(log.close)
        process = start(
            argv,
            cwd=cwd,
            environment=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            walls=walls,
        )
        opened.pop_all()  # from now on the reader closes the log
    reader = _OutputReader(process, stdin_text, log, output.on_line)
    try:
        ended_by = _wait(process, reader, limits)
    finally:
        end(process)
        reader.finish()
    return ProcessResult(
        exit_code=process.returncode,
        lines=reader.lines(),
        ended_by=ended_by,
        seconds=time.monotonic() - began,
        output_digest=reader.digest.hexdigest(),
    )


def _wait(
    process: "subprocess.Popen[bytes]", reader: "_OutputReader", limits: Limits
) -> EndedBy | None:
    """Wait until the program has ended (its pipe may stay open), or until a limit is reached."""
    began = time.monotonic()
    change = _ChangeWatch(began, limits)
    pause = SHORTEST_POLL_SECONDS
    while True:
        try:
            process.wait(timeout=pause)
            return None
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        pause = min(LONGEST_POLL_SECONDS, 1.1 * pause)
        if limits.should_stop():
            return EndedBy.STOPPED
        if now - began > limits.wall_seconds:
            return EndedBy.OVERTIME
        if now - reader.last_output_at > limits.silence_seconds:
            return EndedBy.SILENT
        if change.is_overdue(now):
            return EndedBy.IDLE


class _ChangeWatch:
    """Tells when the snapshot has not changed for too long.

    A snapshot is costly, so it is taken only a few times within the limit.
    """

    def __init__(self, now: float, limits: Limits) -> None:
        self._seconds = limits.idle_seconds
        self._pause = min(limits.idle_seconds / 8, limits.snapshot_seconds)
        self._snapshot = limits.snapshot
        self._checked_at = now
        self._changed_at = now
        self._last: object = None

    def is_overdue(self, now: float) -> bool:
        """Whether the snapshot has not changed for the whole limit."""
        if now - self._checked_at < self._pause:
            return False
        self._checked_at = now
        snapshot = self._snapshot()
        if snapshot != self._last:
            self._last = snapshot
            self._changed_at = now
        return now - self._changed_at > self._seconds


class _Log:
    """The newest part of the output: a full file is moved aside, and a new one is begun."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._aside = path.with_name(f"{path.stem}{OLDER}{path.suffix}")
        self._file: IO[bytes] | None = path.open("wb", buffering=0)
        self._size = 0
        self._removed = 0  # bytes of files that were moved aside and overwritten
        self._is_between_lines = True

    def write(self, piece: bytes) -> None:
        """Write a piece of output. On a full disk the log ends, and the program continues."""
        if not self._file:
            return
        try:
            if self._size + len(piece) > LARGEST_LOG // 2:
                if not self._is_between_lines and b"\n" in piece:
                    end, newline, piece = piece.partition(b"\n")
                    self._put(end + newline)
                if piece:  # else there is nothing newer yet
                    self._roll()
            self._put(piece)
        except OSError as error:
            sys.stderr.write(f"cannot write the log any more: {error}\n")
            self.close()

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def _put(self, piece: bytes) -> None:
        """Append to the file, and note whether a line is open."""
        assert self._file
        self._size += self._file.write(piece)
        self._is_between_lines = piece.endswith(b"\n") or (not piece and self._is_between_lines)

    def _roll(self) -> None:
        """Move the full file aside and begin a new one with a line that says so."""
        assert self._file
        removed = ""
        if self._removed:
            removed = f"; {self._removed:,} bytes before that were removed"
        self._file.close()
        self._path.replace(self._aside)
        self._file = self._path.open("wb", buffering=0)
        self._file.write(f"earlier output is in {self._aside.name}{removed}\n".encode())
        self._removed += self._size
        self._size = 0


class _OutputReader:
    """Two threads: one writes the program's input, one reads its output in pieces.

    Reading in pieces instead of lines bounds the memory that one endless line needs.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        stdin_text: str,
        log: _Log | None,
        on_line: Callable[[str], None],
    ) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.last_output_at = time.monotonic()
        self.digest = sha256()
        self._kept: deque[str] = deque(maxlen=LINES_KEPT)
        self._open = b""  # the beginning of a line that has not ended
        self._log = log
        self._on_line = on_line
        self._reader = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()
        arguments = (process.stdin, stdin_text.encode())
        threading.Thread(target=_feed, args=arguments, daemon=True).start()

    def finish(self) -> None:
        """Read what is left. A child that keeps the pipe open is not waited for."""
        self._reader.join(timeout=LINGER_SECONDS)
        if self._reader.is_alive():
            self._pass_on_open_line()

    def lines(self) -> list[str]:
        """The last lines, also one that has not ended."""
        lines = list(self._kept)
        if self._open:
            lines.append(self._open.decode("utf-8", "replace"))
        return lines

    def _pass_on_open_line(self) -> None:
        if self._open:
            self._on_line(self._open.decode("utf-8", "replace"))

    def _read(self, pipe: IO[bytes]) -> None:
        """Read until every process has closed the pipe. Runs in a thread of its own."""
        with ExitStack() as opened:
            opened.enter_context(pipe)
            if self._log:
                opened.enter_context(closing(self._log))
            while piece := os.read(pipe.fileno(), 65536):
                self.last_output_at = time.monotonic()
                self.digest.update(piece)
                if self._log:
                    self._log.write(piece)
                self._split(piece)
        self._pass_on_open_line()

    def _split(self, piece: bytes) -> None:
        """Pass on the lines that a piece of output ends."""
        *ended, self._open = (self._open + piece).split(b"\n")
        self._open = self._open[-LONGEST_LINE:]
        for raw in ended:
            line = raw.decode("utf-8", "replace")
            self._kept.append(line)
            self._on_line(line)


def _feed(pipe: IO[bytes], text: bytes) -> None:
    """Write the program's input. It may end without reading all of it."""
    try:
        with pipe:
            pipe.write(text)
    except BrokenPipeError:
        pass  # it does not read its input; its exit code will tell more


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a program that `start` started and, on Linux, whatever it started itself.

    There its keeper passes SIGTERM on, and kills everything below it before it ends itself.
    Elsewhere the program's group is ended.
    """
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        _wait_at_most(process, GRACE_SECONDS)
    end_at_once(process)


def end_at_once(process: "subprocess.Popen[bytes]") -> None:
    """Do the same without a SIGTERM. Its keeper is not killed before it has killed the others."""
    if process.poll() is None and sys.platform == "linux":
        process.send_signal(END_ALL)
        _wait_at_most(process, KEEPER_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _wait_at_most(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # all processes of the group have ended
