"""Performs the effects of a generator, one by one, and sends back the answers; over a store that may be away."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from dos import times
from dos.errors import DosError, GitUnanswered, Internal, RemoteAway, StoreBusy, StoreUnreachable
from dos.fleet.effect import Performers, Steps

R = TypeVar("R")

# It may be back in a moment, unlike a disk that is full or damaged.
AWAY = (StoreUnreachable, StoreBusy, RemoteAway, GitUnanswered)
GIT_SECONDS = 60.0  # a repository that git cannot read for so long is damaged, and nobody comes back to mend it
PAUSES = times.exponential_backoff(0.1, cap=2.0)  # in seconds


def drive(process: Steps[R], performers: Performers) -> R:
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
            answer, failure = (
                None,
                DosError(f"{type(effect).__name__}: {error}", hint="Run `dos doctor`."),
            )


class StoreRetry:
    """Tries an effect again while the store is away, for so long at most; then the lease is proven before it goes on.

    An effect can be repeated as a whole: what it writes carries a key, so that what was written without our hearing of
    it is found, and what it did to a lease can be seen. Without a limit it waits for as long as it takes.
    """

    def __init__(
        self,
        seconds: float | None,
        *,
        prove: Callable[[bool], None],
        pause: Callable[[float], object],
    ) -> None:
        self._seconds = seconds
        self._prove = prove  # raises unless the lease is surely ours; with True, it is doubtful
        self._pause = pause

    def wrap(self, performers: Performers) -> Performers:
        return {kind: partial(self._perform, perform) for kind, perform in performers.items()}

    def retry_until(self, act: Callable[[], R]) -> R:
        away_since: float | None = None
        missed = "journal"
        failures = 0
        while True:
            try:
                self._prove(away_since is not None)
                answer = act()
            except AWAY as error:
                if away_since is None:
                    away_since = time.monotonic()
                    missed = _missed(error)
                    warn(f"{_clock()} {error}; {_until(self._limit(error))}")
                limit = self._limit(error)
                if limit is not None and time.monotonic() - away_since >= limit:
                    raise
                failures += 1
                self._pause(PAUSES.delay(failures))
            else:
                if away_since is not None:
                    warn(
                        f"{_clock()} the {missed} is back after {time.monotonic() - away_since:.0f} s"
                    )
                return answer

    def _limit(self, error: DosError) -> float | None:
        if not isinstance(error, GitUnanswered):
            return self._seconds
        return GIT_SECONDS if self._seconds is None else min(GIT_SECONDS, self._seconds)

    def _perform(self, perform: Callable[[Any], Any], effect: Any) -> Any:
        return self.retry_until(partial(perform, effect))


def _missed(error: DosError) -> str:
    if isinstance(error, GitUnanswered):
        return "answer of git"
    return "remote" if isinstance(error, RemoteAway) else "journal"


def _until(seconds: float | None) -> str:
    if seconds is None:
        return "waiting until it is back (Ctrl-C twice ends this command, workers keep running)"
    return f"trying again for {seconds:g} s"


def _clock() -> str:
    return datetime.now().strftime("%H:%M:%S")


def warn(line: str) -> None:
    """On stderr. A terminal that is closed, or a disk that is full, ends nothing but the message."""
    with suppress(OSError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
