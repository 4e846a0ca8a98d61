"""The whole terminal as a page that is drawn anew: when something happens, and each second."""

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

from dos.cli.terminal.page import render_page
from dos.cli.terminal.refresh import LiveView, fit_console
from dos.verbs.context import Context, colour_wanted

LOOK_SECONDS = 0.25
REDRAW_SECONDS = 1.0
LEAVE = (b"q", b"Q", b"\x03", b"\x04")


def show(context: Context) -> None:
    """Until q, or Ctrl-C."""
    console = Console(no_color=not colour_wanted(), highlight=False)
    name = (
        context.journal_world.workspace.root.name
    )  # an error is said at once, and not on the page
    looking = LiveView(context)
    with _each_key() as keys:
        try:
            with Live(
                console=console, screen=True, auto_refresh=False, redirect_stdout=False
            ) as live:
                drawn = float("-inf")
                while not _wants_to_leave(keys):
                    if looking.has_changed() or time.monotonic() - drawn >= REDRAW_SECONDS:
                        looking.refresh()
                        live.update(_page(looking, console, name), refresh=True)
                        drawn = time.monotonic()
        except KeyboardInterrupt:
            return


def _page(looking: LiveView, console: Console, name: str) -> Group:
    width, height = fit_console(console)
    lines = render_page(looking.view, width, height - 1, name=name) if looking.view else []
    if looking.problem:
        lines = [
            Text(f"the journal cannot be read: {looking.problem}", style="red", no_wrap=True),
            *lines,
        ]
    leave = Text("q leaves; the fleet goes on", style="dim", no_wrap=True)
    return Group(*lines[: height - 1], leave)


@contextmanager
def _each_key() -> Iterator[int]:
    """Keys as they are pressed, unseen; and the terminal as it was afterwards, also when we are ended."""
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    ended = signal.signal(signal.SIGTERM, _leave)
    try:
        tty.setcbreak(keys)
        yield keys
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, ended)


def _leave(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _wants_to_leave(keys: int) -> bool:
    ready, _, _ = select.select([keys], [], [], LOOK_SECONDS)
    if not ready:
        return False
    pressed = os.read(keys, 1024)
    return (
        not pressed or pressed.startswith(LEAVE) or pressed == b"\x1b"
    )  # an arrow begins with it as well
