"""Watch, beside a program that a run started, for a person's halt and for the loss of the lease.

A halt is an event in the run's stream; the lease is checked without the journal.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Self

from dos.errors import Fenced, Halted, StoreFailed
from dos.journal import run_state
from dos.journal.events.envelope import Event
from dos.journal.events.limits import HaltRequested
from dos.journal.events.reader import select
from dos.journal.store import Store

POLL_SECONDS = 1.0
JOIN_SECONDS = 2.0  # for a poll in progress


class HaltListener(threading.Thread):
    """A context manager that polls the journal while its block runs.

    It opens a journal of its own in a thread: a journal that does not answer must not delay the
    check for a lost lease. A block that ends before the first poll costs nothing.
    """

    def __init__(
        self,
        run_id: str,
        *,
        open_store: Callable[[], Store],
        is_lost: Callable[[], bool],
        last_version: int = 0,
    ) -> None:
        """`last_version` is the version of the run's stream that was already read."""
        super().__init__(name="halt-listener", daemon=True)
        self.halted = ""  # the reason, once a person has halted the run
        self.last_version = last_version
        self._stream = run_state.stream(run_id)
        self._open_store = open_store
        self._is_lost = is_lost
        self._done = threading.Event()

    def must_stop(self) -> bool:
        """Whether the block has to end: the run was halted, or its lease was lost."""
        return bool(self.halted) or self._is_lost()

    def raise_if_halted(self) -> None:
        """Raise Halted with the reason. A lost lease is reported by the next use of the lease."""
        if self.halted:
            raise Halted(self.halted)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._done.set()
        self.join(JOIN_SECONDS)

    def run(self) -> None:
        """Poll until the block ends. A journal that fails is opened again at the next poll."""
        while not self._done.wait(POLL_SECONDS):
            try:
                with self._open_store() as store:
                    self.poll(store)
                    while not self._done.wait(POLL_SECONDS):
                        self.poll(store)
                    self.poll(store)  # for what happened since the last poll
            except Fenced:
                return  # the lane is lost: halting its run is pointless now
            except StoreFailed:
                continue

    def read(self, events: Sequence[Event]) -> None:
        """Take in new events of the run."""
        for _, fact in select(events, HaltRequested):
            self.halted = fact.why

    def poll(self, store: Store) -> None:
        """Read the new events of the run."""
        events = store.load(self._stream, after=self.last_version)
        self.read(events)
        for event in events:
            self.last_version = max(self.last_version, event.ver)
