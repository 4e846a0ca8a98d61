"""`dos top` on a whole terminal, drawn again at every event and every second."""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dos.cli.terminal.page import problem_line, render_page
from dos.cli.terminal.refresh import LiveView, fit_console
from dos.verbs.context import Context, colour_wanted

POLL_SECONDS = 0.25
REDRAW_SECONDS = 1.0
QUIT_KEYS = (b"q", b"Q", b"\x03", b"\x04")
ESCAPE = b"\x1b"


def show(context: Context) -> None:
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
                    if fleet.has_changed() or time.monotonic() - drawn >= REDRAW_SECONDS:
                        fleet.refresh()
                        live.update(_draw(fleet, console, name), refresh=True)
                        drawn = time.monotonic()
        except KeyboardInterrupt:
            return


def _draw(fleet: LiveView, console: Console, name: str) -> Group:
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
    raise KeyboardInterrupt


def _quit_pressed(keys: int) -> bool:
    """Wait a moment for a key, and return whether it is one that quits."""
    ready, _, _ = select.select([keys], [], [], POLL_SECONDS)
    if not ready:
        return False
    pressed = os.read(keys, 1024)
    # An arrow key begins with the escape character, but does not end there.
    return not pressed or pressed.startswith(QUIT_KEYS) or pressed == ESCAPE
