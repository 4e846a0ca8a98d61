"""Beside whatever a run has started: hears when a person stops that run."""

import threading
from collections.abc import Callable
from typing import Self

from dos.errors import Fenced, StoreFailed
from dos.journal import events, runs
from dos.journal.engine_events import HaltRequested
from dos.journal.store import Store

LOOK_SECONDS = 1.0
LEAVE_SECONDS = 2.0  # for a look that is under way


class Ear(threading.Thread):
    """With a journal of its own: when that is away, nobody may wait for it who has to see that a lease is lost.

    What is over before the first look costs no look at all.
    """

    def __init__(self, run_id: str, open_store: Callable[[], Store], *, heeded: int = 0) -> None:
        """Events of the run up to `heeded` were heard already."""
        super().__init__(name="ear", daemon=True)
        self.halted = ""  # why, once a person has said so
        self.heeded = heeded
        self._stream = runs.stream(run_id)
        self._open_store = open_store
        self._done = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._done.set()
        self.join(LEAVE_SECONDS)

    def run(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            try:
                with self._open_store() as store:
                    self.look(store)
                    while not self._done.wait(LOOK_SECONDS):
                        self.look(store)
                    self.look(store)  # at what has happened since the last
            except Fenced:
                return  # who lost the lane has nothing to say about it any more
            except StoreFailed:
                pass  # it is opened anew at the next look

    def look(self, store: Store) -> None:
        for event in store.load(self._stream, after=self.heeded):
            self.heeded, fact = event.ver, events.decode(event)
            if isinstance(fact, HaltRequested):
                self.halted = fact.reason or "halted by a person"
