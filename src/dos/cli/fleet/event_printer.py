"""Prints the events of the journal as lines while the supervisor of `dos up` runs.

It reads the journal and not the supervisor, so that it also shows what workers, other hosts and
people do.
"""

import threading
from collections.abc import Iterator
from datetime import datetime

from dos.errors import StoreFailed
from dos.fleet.io.drive import AWAY
from dos.journal.store import Store
from dos.report import event_lines
from dos.report.event_lines import EventLine
from dos.text import escape_invisible
from dos.verbs.context import Context, colour_wanted

POLL_SECONDS = 0.2
RETRY_SECONDS = 1.0
JOIN_SECONDS = 5.0
_RESET = "\x1b[0m"
_COLOURS = {
    event_lines.GOOD: "\x1b[32m",
    event_lines.BAD: "\x1b[31m",
    event_lines.DIM: "\x1b[2m",
}


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
            journal.wait(position, POLL_SECONDS)


def _format(line: EventLine) -> str:
    """Return a line with its local time and place, coloured by its tone if colours are wanted."""
    clock = datetime.fromtimestamp(line.at_ms / 1000).strftime("%H:%M:%S")
    text = escape_invisible(f"{clock}  {line.where:<10}  {line.text}")
    colour = _COLOURS.get(line.tone)
    if colour is None or not colour_wanted():
        return text
    return f"{colour}{text}{_RESET}"
