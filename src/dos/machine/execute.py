"""Run a program in a session of its own, keep its last lines, and end it at its limits.

Agents, acceptance commands and tests all run through here.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from msgspec import Struct

from dos.machine.process import child_environment
from dos.machine.streams import Log, OutputReader, ProgramInput
from dos.sandbox.io.start import END_ALL, launch_command
from dos.sandbox.walls import Walls

GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
EXIT_SECONDS = 15.0  # between the end of its work and that of the program
KEEPER_SECONDS = 10.0  # for the keeper to kill what is left
SHORTEST_POLL_SECONDS = 0.05
LONGEST_POLL_SECONDS = 0.5


class EndedBy(StrEnum):
    """Which limit ended a program."""

    SILENT = "silent"
    OVERTIME = "overtime"
    IDLE = "idle"
    STOPPED = "stopped"
    OVER = "over"  # its work had ended, and it did not exit


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


def never() -> bool:
    """The `is_waiting` and `is_over` of a program that nothing is known of."""
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
    is_waiting: Callable[[], bool] = never  # for a person: neither silent nor idle meanwhile
    is_over: Callable[[], bool] = never  # its work has ended, so it has to exit soon
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
    stdin: str | ProgramInput = "",
    output: Output = Output(),
    walls: Walls | None = None,
) -> ProcessResult:
    """Run a program until it ends or a limit ends it, and return how it ended.

    Its input is a text, or a `ProgramInput`, to which lines can be sent while it runs.
    A program that does not exist ends with `LAUNCH_FAILED`. On Linux all that it started ends with
    it or with this process, whichever is first; elsewhere the processes of its group do. Where its
    walls refuse a start, or one of them cannot be put up, it ends with `LAUNCH_FAILED` too.
    Raises OSError when the log cannot be opened; then nothing is started.
    """
    began = time.monotonic()
    with ExitStack() as opened:
        log = None
        if output.log:
            log = Log(output.log)
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
    assert process.stdin is not None
    given = ProgramInput(stdin) if isinstance(stdin, str) else stdin
    given.feed(process.stdin)
    reader = OutputReader(process, log, output.on_line)
    try:
        ended_by = _wait(process, reader, limits)
    finally:
        given.close()
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
    process: "subprocess.Popen[bytes]", reader: OutputReader, limits: Limits
) -> EndedBy | None:
    """Wait until the program has ended (its pipe may stay open), or until a limit is reached."""
    began = at_work = time.monotonic()
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
        if not limits.is_over():
            at_work = now
        elif now - at_work > EXIT_SECONDS:
            return EndedBy.OVER
        if limits.is_waiting():
            reader.last_output_at = now
            change.restart(now)
            continue
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

    def restart(self, now: float) -> None:
        """Begin the limit anew: until now nothing could change."""
        self._changed_at = now

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
