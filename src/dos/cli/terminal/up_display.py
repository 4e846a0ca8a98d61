"""What `dos up` shows in the foreground: a line for each event, and a live table below the lines.

`EventPrinter` prints the events of the journal, and not of the supervisor, so that it also shows
what workers, other hosts and people do. `Footer` draws the table. `Terminal` lets a supervisor
outlive the terminal that it was started in.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dos.cli.terminal.screen import LiveView, fit_console
from dos.cli.terminal.top_page import problem_line, render_page
from dos.errors import StoreFailed
from dos.fleet.io.drive import AWAY
from dos.journal.store import Store
from dos.report import event_lines
from dos.report.event_lines import EventLine
from dos.text import one_line
from dos.verbs.context import Context, colour_wanted

POLL_SECONDS = 0.25
REDRAW_SECONDS = 1.0  # also without events: the table shows ages
SHARE_OF_TERMINAL = 2  # the table takes at most one half
LEAST_HEIGHT = 3
CLOSED = (
    "{clock} terminal closed; the supervisor keeps running as process {pid}. `dos down` stops it.\n"
)
EVENT_POLL_SECONDS = 0.2
RETRY_SECONDS = 1.0
JOIN_SECONDS = 5.0
_RESET = "\x1b[0m"
_COLOURS = {
    event_lines.GOOD: "\x1b[32m",
    event_lines.BAD: "\x1b[31m",
    event_lines.DIM: "\x1b[2m",
}


def footer_wanted(context: Context) -> bool:
    """Whether stdout is a terminal that can be drawn on, and the output is for people."""
    if context.as_json or not sys.stdout.isatty():
        return False
    return os.environ.get("TERM") not in (None, "", "dumb")


class Footer:
    """A context manager that draws the table while the supervisor runs.

    Lines written to stdout or stderr meanwhile appear above the table. One thread draws and prints:
    two would overwrite one another.
    """

    def __init__(self, context: Context) -> None:
        """Prepare to draw on stdout as it is now; drawing begins when the context is entered."""
        # A context of its own, since the drawing thread uses it.
        self._context = Context(workspace=str(context.start_directory))
        self._fleet = LiveView(self._context)
        self._streams = (sys.stdout, sys.stderr)
        self._console = Console(file=sys.stdout, no_color=not colour_wanted(), highlight=False)
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        # None ends the drawing. A SimpleQueue, because a signal handler may put something in.
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Take over stdout and stderr, and begin to draw."""
        stdout, stderr = self._streams
        sys.stdout = cast(TextIO, _LineQueue(stdout, self._lines))
        sys.stderr = cast(TextIO, _LineQueue(stderr, self._lines))
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop drawing because the terminal is closed; later output goes to the real streams."""
        self._console.file = _Discarded()
        sys.stdout, sys.stderr = self._streams
        self._lines.put(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the streams back, draw a last time, and print lines that could not be drawn."""
        sys.stdout, sys.stderr = self._streams
        self._lines.put(None)
        self._thread.join()
        self._context.close()
        while not self._lines.empty():  # only where drawing failed
            line = self._lines.get()
            if line is not None:
                sys.stdout.write(f"{line}\n")

    def _run(self) -> None:
        """Draw until stopped, in the thread of the footer."""
        try:
            with self._live:
                self._draw_until_stopped()
        except OSError:
            pass  # the terminal is closed

    def _draw_until_stopped(self) -> None:
        """Print the lines of the queue above the table, and redraw the table when it changed."""
        drawn = float("-inf")
        while True:
            if time.monotonic() - drawn >= REDRAW_SECONDS or self._fleet.has_changed():
                self._redraw()
                drawn = time.monotonic()
            try:
                line = self._lines.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if line is None:
                self._redraw()
                return
            self._console.print(Text.from_ansi(line))

    def _redraw(self) -> None:
        """Read the fleet and draw it into at most half of the terminal.

        A problem with the journal is shown above the last table that could be read.
        """
        self._fleet.refresh()
        width, height = fit_console(self._console)
        lines = [Text("")]
        if self._fleet.problem:
            lines.append(problem_line(self._fleet.problem))
        if self._fleet.view:
            table_height = max(LEAST_HEIGHT, height // SHARE_OF_TERMINAL)
            lines += render_page(self._fleet.view, width, table_height)
        self._live.update(Group(*lines), refresh=True)


class _Discarded(StringIO):
    """Takes what is still drawn after the terminal was closed."""

    def write(self, text: str) -> int:
        """Discard the text."""
        return len(text)


class _LineQueue:
    """Stands for a stream and puts each whole line that is written to it into a queue.

    Everything but writing is asked of the stream itself, such as whether it is a terminal.
    """

    def __init__(self, stream: TextIO, lines: "SimpleQueue[str | None]") -> None:
        """Stand for this stream."""
        self._stream = stream
        self._lines = lines
        self._partial_line = ""

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Put the whole lines into the queue, and keep a line without an end."""
        *lines, self._partial_line = (self._partial_line + text).split("\n")
        for line in lines:
            self._lines.put(line)
        return len(text)

    def flush(self) -> None:
        """Do nothing: a line is drawn as soon as it has an end."""


class Terminal:
    """The terminal of a command that runs for hours: when it is closed, output goes to a log."""

    def __init__(self, log: Path, *, on_close: Callable[[], None] | None = None) -> None:
        """`on_close` stops what draws; a signal handler calls it, so it must not wait."""
        self._log = log
        self._on_close = on_close
        # A stream that is redirected to a file stays there.
        self._streams = [stream for stream in (1, 2) if os.isatty(stream)]

    def survive_hangup(self) -> None:
        """Continue after a hangup. Where hangups are ignored already, as by nohup, they stay so."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._on_hangup)

    def _on_hangup(self, _number: int, _frame: object) -> None:
        """Stop drawing, and let stdout and stderr go to the log where they went to the terminal.

        The file descriptors are replaced, so that processes which are started later write to the
        log as well.
        """
        if self._on_close:
            self._on_close()
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        for stream in self._streams:
            os.dup2(log, stream)
        os.close(log)
        # Not by sys.stderr: the signal may have interrupted a write to it.
        os.write(2, CLOSED.format(clock=_clock(), pid=os.getpid()).encode())


def _clock() -> str:
    """Return the local time of day."""
    return datetime.now().strftime("%H:%M:%S")


class EventPrinter:
    """A thread that prints each event after a position, until it is stopped.

    It waits for a journal that is away, and for a terminal that was closed until the log replaces
    it; then it continues with the event that it did not print.
    """

    def __init__(self, context: Context, position: int) -> None:
        """Print the events after this position of the journal, once started."""
        self._context = context
        self._position = position
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start to print."""
        self._thread.start()

    def stop(self) -> None:
        """Print what was written until now, then end."""
        self._stopped.set()
        self._thread.join(timeout=JOIN_SECONDS)

    def _run(self) -> None:
        """Print until stopped; after a failure of the journal or the terminal, try again.

        The thread has a connection to the journal of its own: one connection serves one thread.
        """
        while True:
            try:
                with self._context.open_reader() as journal:
                    for position in self._print_from(journal):
                        self._position = position
                return
            except StoreFailed as error:
                # The supervisor itself reports a journal that is away, and its return.
                if not isinstance(error, AWAY):
                    self._context.warn(f"warning: cannot read the journal: {error}")
            except BrokenPipeError:
                return  # nothing reads the output any more
            except OSError:
                pass  # the terminal is closed: its log replaces it
            if self._stopped.wait(RETRY_SECONDS):
                return

    def _print_from(self, journal: Store) -> Iterator[int]:
        """Print events and yield the position of each; after the stop, once more for the last."""
        position = self._position
        is_last_round = False
        while True:
            for event in journal.events(position):
                position = event.pos
                line = event_lines.event_line(event)
                if line and not self._context.as_json:
                    self._context.print_line(_format(line))
                yield position
            if is_last_round:
                return
            is_last_round = self._stopped.is_set()
            journal.wait(position, EVENT_POLL_SECONDS)


def _format(line: EventLine) -> str:
    """Return a line with its local time and place, coloured by its tone if colours are wanted."""
    clock = datetime.fromtimestamp(line.at_ms / 1000).strftime("%H:%M:%S")
    text = one_line(f"{clock}  {line.where:<10}  {line.text}")
    colour = _COLOURS.get(line.tone)
    if colour is None or not colour_wanted():
        return text
    return f"{colour}{text}{_RESET}"
