"""Performs the effects of a generator, one by one, and sends back the answers; over a store that may be away."""

import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from dos.errors import DosError, Internal, RemoteAway, StoreBusy, StoreUnreachable

R = TypeVar("R")
Performers = Mapping[type, Callable[[Any], Any]]

AWAY = (StoreUnreachable, StoreBusy, RemoteAway)  # it may be back in a moment, unlike a disk that is full or damaged
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


def drive(process: Generator[Any, Any, R], performers: Performers) -> R:
    """An effect that fails with one of our errors is raised where it was yielded; the process decides what it means."""
    answer: Any = None
    failure: DosError | None = None
    while True:
        try:
            effect = process.throw(failure) if failure else process.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        perform = performers.get(type(effect))
        if perform is None:
            raise Internal(f"nothing here can perform {type(effect).__name__}")
        try:
            answer, failure = perform(effect), None
        except DosError as error:
            answer, failure = None, error
        except OSError as error:
            answer, failure = None, DosError(f"{type(effect).__name__}: {error}", hint="Run `dos doctor`.")


class Patience:
    """Tries an effect again while the store is away, for so long at most; then the lease is proven before it goes on.

    An effect can be repeated as a whole: what it writes carries a key, so that what was written without our hearing of
    it is found, and what it did to a lease can be seen.
    """

    def __init__(self, seconds: float, *, prove: Callable[[bool], None], pause: Callable[[float], object]) -> None:
        self._seconds = seconds
        self._prove = prove  # raises unless the lease is surely ours; with True, it is doubtful
        self._pause = pause

    def over(self, performers: Performers) -> Performers:
        return {kind: partial(self._perform, perform) for kind, perform in performers.items()}

    def outlast(self, act: Callable[[], R]) -> R:
        away_since: float | None = None
        missed = False  # the remote, and not the journal
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                self._prove(away_since is not None)
                answer = act()
            except AWAY as error:
                if away_since is None:
                    away_since, missed = time.monotonic(), isinstance(error, RemoteAway)
                    _say(f"{error}; trying again for {self._seconds:g} s")
                if time.monotonic() - away_since >= self._seconds:
                    raise
                self._pause(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            else:
                if away_since is not None:
                    _say(f"the {'remote' if missed else 'journal'} is back")
                return answer

    def _perform(self, perform: Callable[[Any], Any], effect: Any) -> Any:
        return self.outlast(partial(perform, effect))


def _say(line: str) -> None:
    with suppress(OSError):  # nobody is left to read it
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
