"""Run a worker or a supervisor: prepare its process, then perform the effects of its generator.

Before it takes a lease, a process checks its settings and imports whatever it may need: an upgrade
replaces the files of the package under a running fleet, and a module that is imported later would
be of the other version, or gone. `drive` performs the effects, and retries while the store, the
remote or git does not answer.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from dos import times
from dos.agents import registry
from dos.config.schema import Config
from dos.errors import (
    BadInput,
    DosError,
    GitUnanswered,
    Internal,
    RemoteAway,
    StoreBusy,
    StoreUnreachable,
)
from dos.fleet.effect import Performers, Steps
from dos.landing.lane.inside import program_text
from dos.sandbox.io.start import launcher_code

R = TypeVar("R")

# The store, the remote or git may answer again in a moment, unlike a full or damaged disk.
AWAY = (StoreUnreachable, StoreBusy, RemoteAway, GitUnanswered)
GIT_SECONDS = 60.0  # a repository that git cannot read for so long is damaged
PAUSES = times.exponential_backoff(0.1, cap=2.0)  # in seconds


MODULES = (
    "dos.config.explain",
    "dos.config.toml_text",
    "dos.git.drivers",
    "dos.journal.backends.memory",
    "dos.journal.backends.sqlite",
    "dos.journal.events.kinds",
    "dos.reasons.table",
    "dos.sandbox.io.launcher.cgroup",
    "dos.sandbox.io.launcher.kernel",
    "dos.sandbox.io.launcher.landlock",
    "dos.units.io.beads",
    "dos.units.io.command",
    "dos.verify.code.interpreters",
    "dos.verify.code.lexers",
    "dos.verify.code.tokens",
    "dos.verify.code.yaml_code",
    "dos.verify.dead_code.block_dead",
    "dos.verify.dead_code.idle_values",
    "dos.verify.dead_code.importers",
    "dos.verify.dead_code.line_dead",
    "dos.verify.dead_code.only_dead",
    "dos.verify.dead_code.python_dead",
    "dos.verify.io.copies",
    "dos.verify.io.corroborate",
    "dos.verify.io.tree_texts",
    "dos.verify.stubs.block_bodies",
    "dos.verify.stubs.only_stubs",
    "dos.verify.stubs.python_bodies",
    "dos.verify.work.own_version",
    "dos.verify.work.pins",
    "dos.verify.work.request",
    *registry.MODULES,
)


def preload_modules() -> None:
    """Import all modules that may be needed later.

    The PostgreSQL backend is imported as the journal is opened, which is before a lease, too.
    """
    for name in MODULES:
        import_module(name)
    launcher_code()
    program_text()


def check_settings(config: Config) -> None:
    """Raise BadInput for settings of [workers] that contradict one another."""
    workers = config.workers
    if workers.isolation != "shared":
        return
    if workers.landing == "branch":
        other = 'landing = "branch"'
    elif workers.remote:
        other = f"remote = {workers.remote!r}"
    else:
        return
    raise BadInput(
        f'[workers] isolation = "shared" works in the one tree of the target branch,'
        f" and {other} lands elsewhere",
        hint="dos config unset workers.isolation",
    )


def drive(process: Steps[R], performers: Performers) -> R:
    """Perform the effects that the process yields, and return what it returns.

    A DosError of a performer is raised in the process, where the effect was yielded; an OSError
    likewise, as a DosError. Raises Internal for an effect without a performer.
    """
    answer: Any = None
    failure: DosError | None = None
    while True:
        try:
            effect = process.throw(failure) if failure else process.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        perform = performers.get(type(effect))
        if perform is None:
            raise Internal(f"no performer is registered for {type(effect).__name__}")
        answer = None
        failure = None
        try:
            answer = perform(effect)
        except DosError as error:
            failure = error
        except OSError as error:
            failure = DosError(f"{type(effect).__name__}: {error}", hint="Run `dos doctor`.")


class StoreRetry:
    """Repeats an effect while the store is away, and checks the lease before each attempt.

    An effect can be repeated as a whole: what it writes carries a key, so that a record whose
    confirmation was lost is found, and what it did to a lease can be seen.
    """

    def __init__(
        self,
        seconds: float | None,
        *,
        prove: Callable[[bool], None],
        pause: Callable[[float], object],
    ) -> None:
        """`seconds` is how long to retry; None: until the store is back.

        `prove` raises unless the lease is still held; it is called with True when that is
        doubtful.
        """
        self._seconds = seconds
        self._prove = prove
        self._pause = pause

    def wrap(self, performers: Performers) -> Performers:
        """Return the same performers, each of them with retries."""
        return {kind: partial(self._perform, perform) for kind, perform in performers.items()}

    def retry_until(self, act: Callable[[], R]) -> R:
        """Call `act` until it succeeds, or raise its last error when the time is over."""
        away_since: float | None = None
        what = "journal"
        failures = 0
        while True:
            try:
                self._prove(away_since is not None)
                answer = act()
            except AWAY as error:
                limit = self._limit(error)
                if away_since is None:
                    away_since = time.monotonic()
                    what = _what_is_away(error)
                    warn(f"{_clock()} {error}; {_describe_limit(limit)}")
                if limit is not None and time.monotonic() - away_since >= limit:
                    raise
                failures += 1
                self._pause(PAUSES.delay(failures))
                continue
            if away_since is not None:
                seconds = time.monotonic() - away_since
                warn(f"{_clock()} the {what} is back after {seconds:.0f} s")
            return answer

    def _limit(self, error: DosError) -> float | None:
        """Return for how many seconds to retry after this error; None: until it is over."""
        if not isinstance(error, GitUnanswered):
            return self._seconds
        if self._seconds is None:
            return GIT_SECONDS
        return min(GIT_SECONDS, self._seconds)

    def _perform(self, perform: Callable[[Any], Any], effect: Any) -> Any:
        """Perform one effect, again and again while the store is away."""
        return self.retry_until(partial(perform, effect))


def _what_is_away(error: DosError) -> str:
    """Return what does not answer, as the message says it that it is back."""
    if isinstance(error, GitUnanswered):
        return "answer of git"
    return "remote" if isinstance(error, RemoteAway) else "journal"


def _describe_limit(seconds: float | None) -> str:
    """Return how long it is tried again, and how to end that."""
    if seconds is None:
        return "waiting until it is back (Ctrl-C twice ends this command, workers keep running)"
    return f"trying again for {seconds:g} s"


def _clock() -> str:
    """Return the local time to the second, with which each message about an outage begins."""
    return datetime.now().strftime("%H:%M:%S")


def warn(line: str) -> None:
    """Print a line on stderr; a closed terminal or a full disk loses only the line."""
    with suppress(OSError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
