"""`dos top` on a whole terminal, drawn again at every event and every second.

`LiveView` holds the newest view, also while the journal cannot be read; the footer of `dos up`
draws the same one.
"""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleDimensions, Group
from rich.live import Live
from rich.text import Text

from dos.cli.terminal.top_page import problem_line, render_page
from dos.errors import DosError, StoreFailed
from dos.journal.backends.memory import MemoryBackend
from dos.report.io.snapshot import FleetWatch
from dos.report.top import TopView
from dos.report.top_builder import build_view
from dos.verbs.context import Context, colour_wanted

POLL_SECONDS = 0.25
REDRAW_SECONDS = 1.0
QUIT_KEYS = (b"q", b"Q", b"\x03", b"\x04")
ESCAPE = b"\x1b"
FALLBACK = (80, 24)  # for a terminal that does not know its size


def fit_console(console: Console) -> tuple[int, int]:
    """Set the console to the size that the terminal has now, and return width and height.

    $LINES and $COLUMNS hold the size at the start of the shell, so they are not used.
    """
    columns, lines = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    console.size = ConsoleDimensions(columns or FALLBACK[0], lines or FALLBACK[1])
    return console.size


class LiveView:
    """The newest view, or the problem because of which there is none.

    It opens the journal again after a failure, and reads dos.toml anew then: the view returns by
    itself once the journal does.
    """

    def __init__(self, context: Context) -> None:
        """Start without a view; `refresh` reads the first one."""
        self.context = context
        self.problem = ""
        self.view: TopView | None = None
        self._watch: FleetWatch | None = None

    def has_changed(self) -> bool:
        """Whether something was recorded since the last refresh."""
        if self._watch is None:
            return False
        try:
            return self.context.journal_world.journal.last() > self._watch.pos
        except StoreFailed:
            return True  # the next refresh finds the problem

    def refresh(self) -> None:
        """Read the view again; keep the last one and set `problem` where that fails."""
        try:
            if self._watch is None or self._has_no_journal():
                self.context.reload()
                self._watch = FleetWatch(self.context.journal_world)
            snapshot, waits = self._watch.look()
            self.view = build_view(snapshot, waits)
            self.problem = ""
        except DosError as error:
            self._watch = None
            self.problem = error.message

    def _has_no_journal(self) -> bool:
        """Whether an empty journal in memory stands for one that was not created yet."""
        return isinstance(self.context.journal_world.journal.backend, MemoryBackend)


def show(context: Context, redraw_seconds: float = REDRAW_SECONDS) -> None:
    """Show the fleet until q or Ctrl-C is pressed."""
    console = Console(no_color=not colour_wanted(), highlight=False)
    name = context.journal_world.workspace.root.name  # an error ends the verb before it draws
    fleet = LiveView(context)
    with _unbuffered_keys() as keys:
        try:
            with Live(
                console=console, screen=True, auto_refresh=False, redirect_stdout=False
            ) as live:
                drawn = float("-inf")
                while not _quit_pressed(keys):
                    if fleet.has_changed() or time.monotonic() - drawn >= redraw_seconds:
                        fleet.refresh()
                        live.update(_draw(fleet, console, name), refresh=True)
                        drawn = time.monotonic()
        except KeyboardInterrupt:
            return


def _draw(fleet: LiveView, console: Console, name: str) -> Group:
    """Return the page at the present size of the terminal, with how to quit in its last line."""
    width, height = fit_console(console)
    lines = []
    if fleet.problem:
        lines.append(problem_line(fleet.problem))
    if fleet.view:
        lines += render_page(fleet.view, width, height - 1, name=name)
    footer = Text("q quits; the fleet keeps running", style="dim", no_wrap=True)
    return Group(*lines[: height - 1], footer)


@contextmanager
def _unbuffered_keys() -> Iterator[int]:
    """Read keys as they are pressed, without echo; restore the terminal, also after SIGTERM."""
    keys = sys.stdin.fileno()
    settings = termios.tcgetattr(keys)
    previous_handler = signal.signal(signal.SIGTERM, _interrupt)
    try:
        tty.setcbreak(keys)
        yield keys
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, settings)
        signal.signal(signal.SIGTERM, previous_handler)


def _interrupt(_number: int, _frame: object) -> None:
    """Leave as after Ctrl-C, so that the terminal is restored."""
    raise KeyboardInterrupt


def _quit_pressed(keys: int) -> bool:
    """Wait a moment for a key, and return whether it is one that quits."""
    ready, _, _ = select.select([keys], [], [], POLL_SECONDS)
    if not ready:
        return False
    pressed = os.read(keys, 1024)
    # An arrow key begins with the escape character, but does not end there.
    return not pressed or pressed.startswith(QUIT_KEYS) or pressed == ESCAPE
