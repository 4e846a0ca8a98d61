"""Beside whatever a run has started: listens for a person who halts that run, and for the loss of its lease."""

import threading
from collections.abc import Callable
from typing import Self

from dos.errors import Fenced, Halted, StoreFailed
from dos.journal import run_state
from dos.journal.events.limits import HaltRequested
from dos.journal.events.reader import select
from dos.journal.store import Store

POLL_SECONDS = 1.0
JOIN_SECONDS = 2.0  # for a look that is under way


class HaltListener(threading.Thread):
    """A context manager: it listens while its block runs, and `must_stop` says when that has to end.

    With a journal of its own: when that is away, nobody may wait for it who has to see that a lease is lost. What is
    over before the first look costs no look at all.
    """

    def __init__(
        self,
        run_id: str,
        *,
        open_store: Callable[[], Store],
        is_lost: Callable[[], bool],
        last_version: int = 0,
    ) -> None:
        """Events of the run up to `heeded` were heard already."""
        super().__init__(name="halt-listener", daemon=True)
        self.halted = ""  # why, once a person has said so
        self.last_version = last_version
        self._stream = run_state.stream(run_id)
        self._open_store = open_store
        self._is_lost = is_lost
        self._done = threading.Event()

    def must_stop(self) -> bool:
        """Also by the loss of the lease, which needs no journal to be seen."""
        return bool(self.halted) or self._is_lost()

    def raise_if_halted(self) -> None:
        """Raise Halted with the reason that was given. The loss of a lease is for the next proof of it to say."""
        if self.halted:
            raise Halted(self.halted)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._done.set()
        self.join(JOIN_SECONDS)

    def run(self) -> None:
        while not self._done.wait(POLL_SECONDS):
            try:
                with self._open_store() as store:
                    self.poll(store)
                    while not self._done.wait(POLL_SECONDS):
                        self.poll(store)
                    self.poll(store)  # at what has happened since the last
            except Fenced:
                return  # who lost the lane has nothing to say about it any more
            except StoreFailed:
                pass  # it is opened anew at the next look

    def poll(self, store: Store) -> None:
        happened = store.load(self._stream, after=self.last_version)
        for _, fact in select(happened, HaltRequested):
            self.halted = fact.why
        self.last_version = max((event.ver for event in happened), default=self.last_version)
