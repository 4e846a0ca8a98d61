"""Beside a command that runs: hears when a person stops its run."""

import threading
from collections.abc import Callable
from typing import Self

from dos.errors import StoreFailed
from dos.journal import events, runs
from dos.journal.engine_events import HaltRequested
from dos.journal.store import Store

LOOK_SECONDS = 1.0
LEAVE_SECONDS = 2.0  # for a look that is under way


class Ear(threading.Thread):
    """With a journal of its own: when that is away, nobody may wait for it who has to see that a lease is lost.

    A command that is over before the first look costs no look at all.
    """

    def __init__(self, run_id: str, open_store: Callable[[], Store]) -> None:
        super().__init__(name="ear", daemon=True)
        self.halted = ""  # why, once a person has said so
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
        while not self.halted and not self._done.wait(LOOK_SECONDS):
            try:
                with self._open_store() as store:
                    self._listen(store)
            except StoreFailed:
                pass  # it is opened anew at the next look

    def _listen(self, store: Store) -> None:
        heeded = 0
        while True:
            for event in store.load(self._stream, after=heeded):
                heeded, fact = event.ver, events.decode(event)
                if isinstance(fact, HaltRequested):
                    self.halted = fact.reason or "halted by a person"
            if self.halted or self._done.wait(LOOK_SECONDS):
                return
