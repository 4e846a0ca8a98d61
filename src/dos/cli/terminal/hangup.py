"""The terminal of a command that runs for hours. When it is closed the command goes on, and speaks to its log."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

CLOSED = "{clock} the terminal was closed; the supervisor goes on as process {pid}. `dos down` stops it.\n"


class Terminal:
    def __init__(self, log: Path, *, on_close: Callable[[], None] | None = None) -> None:
        """`on_close` stops whatever draws on the terminal. It is called by a signal, so it must not wait."""
        self._log = log
        self._on_close = on_close
        self._streams = [
            stream for stream in (1, 2) if os.isatty(stream)
        ]  # what is in a file stays there

    def survive_its_end(self) -> None:
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
