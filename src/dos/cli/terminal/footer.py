"""The fleet at the foot of the terminal, while what is printed goes by above it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dos.cli.terminal.page import render_page
from dos.cli.terminal.refresh import LiveView, fit_console
from dos.verbs.context import Context, colour_wanted

LOOK_SECONDS = 0.25
REDRAW_SECONDS = 1.0  # also when nothing happens: the times go on
SHARE_OF_THE_TERMINAL = 2  # a half


def footer_wanted(context: Context) -> bool:
    """Only by a person who looks at a terminal that can be drawn on."""
    return (
        not context.as_json
        and sys.stdout.isatty()
        and os.environ.get("TERM") not in (None, "", "dumb")
    )


class Footer:
    """Whatever is written to stdout or stderr meanwhile stands above it, line by line.

    One thread draws and prints: of two, one would now and then write over what the other has just written.
    """

    def __init__(self, context: Context) -> None:
        self._context = Context(
            workspace=str(context.start_directory)
        )  # of its own: it is used by the other thread
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
        self._lines: SimpleQueue[str | None] = (
            SimpleQueue()
        )  # None: it is over. A signal may put something in
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        sys.stdout, sys.stderr = (
            cast(TextIO, _Lines(stream, self._lines)) for stream in self._streams
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Draw no more, because the terminal is gone. What is written from now on goes where it went before."""
        self._console.file = _Nowhere()
        sys.stdout, sys.stderr = self._streams
        self._lines.put(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.stdout, sys.stderr = self._streams
        self._lines.put(None)
        self._thread.join()
        self._context.close()
        while not self._lines.empty():  # only if the drawing broke down
            if (line := self._lines.get()) is not None:
                sys.stdout.write(f"{line}\n")

    def _follow(self) -> None:
        try:
            with self._live:
                self._draw_until_it_is_over()
        except OSError:
            pass  # nobody is left to look; what is still said goes nowhere

    def _draw_until_it_is_over(self) -> None:
        drawn = float("-inf")
        while True:
            if time.monotonic() - drawn >= REDRAW_SECONDS or self._fleet.has_changed():
                self._fleet.refresh()
                self._live.update(self._drawn(), refresh=True)
                drawn = time.monotonic()
            try:
                line = self._lines.get(timeout=LOOK_SECONDS)
            except Empty:
                continue
            if line is None:
                self._fleet.refresh()
                self._live.update(self._drawn(), refresh=True)
                return
            self._console.print(Text.from_ansi(line))

    def _drawn(self) -> Group:
        width, height = fit_console(self._console)
        lines = (
            render_page(self._fleet.view, width, max(3, height // SHARE_OF_THE_TERMINAL))
            if self._fleet.view
            else []
        )
        if self._fleet.problem:
            lines = [
                Text(
                    f"the journal cannot be read: {self._fleet.problem}",
                    style="red",
                    no_wrap=True,
                ),
                *lines,
            ]
        return Group(Text(""), *lines)


class _Nowhere(StringIO):
    """Takes what is still drawn on a terminal that is gone."""

    def write(self, text: str) -> int:
        return len(text)


class _Lines:
    """Stands for a stream: each whole line that is written to it is handed on."""

    def __init__(self, stream: TextIO, lines: "SimpleQueue[str | None]") -> None:
        self._stream = stream
        self._lines = lines
        self._open = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        *lines, self._open = (self._open + text).split("\n")
        for line in lines:
            self._lines.put(line)
        return len(text)

    def flush(self) -> None:
        pass


CLOSED = "{clock} the terminal was closed; the supervisor goes on as process {pid}. `dos down` stops it.\n"


class Terminal:
    def __init__(self, log: Path, *, on_close: Callable[[], None] | None = None) -> None:
        """`on_close` stops whatever draws on the terminal. It is called by a signal, so it must not wait."""
        self._log = log
        self._on_close = on_close
        self._streams = [
            stream for stream in (1, 2) if os.isatty(stream)
        ]  # what is in a file stays there

    def survive_hangup(self) -> None:
        """Go on after a hangup. Where hangups are ignored already, as by `nohup`, they stay ignored."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._hang_up)

    def _hang_up(self, number: int, frame: object) -> None:
        if self._on_close:
            self._on_close()
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        for stream in self._streams:
            os.dup2(log, stream)
        os.close(log)
        # Not through sys.stderr: the signal may have interrupted somebody who is writing to it.
        os.write(2, CLOSED.format(clock=_clock(), pid=os.getpid()).encode())


def _clock() -> str:
    from datetime import datetime

    return datetime.now().strftime("%H:%M:%S")
