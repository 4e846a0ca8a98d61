"""Simulates many seeds, on several processes, and adds up their results.

`simulate` runs one seed; `run` yields the summary of a batch as it grows; the functions at the end
format a summary for `dos simulate`. The same seed gives the same events on every machine and on
every store, so a failure is repeated by its seed alone.
"""

import gc
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct, field

from dos.errors import BadInput
from dos.journal.backend import Backend
from dos.journal.backends.memory import MemoryBackend
from dos.testing.simulator.mutants import PLANTED, planted
from dos.testing.simulator.simulation import Failure, Simulation, journal_digest
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.invariants import INVARIANTS
from dos.testing.simulator.world.process import VirtualClock

STORES = ("memory", "sqlite")


class SeedResult(Struct, kw_only=True):
    """What the simulation of one seed came to.

    `counts` has how often each fault and refusal happened; `digest` is of all events and of git,
    and is empty unless it was asked for.
    """

    seed: int
    events: int = 0
    effects: int = 0
    seconds: float = 0.0  # of virtual time
    counts: dict[str, int] = field(default_factory=dict)
    failure: Failure | None = None
    digest: str = ""


def simulate(
    seed: int, *, store: str = "memory", plant: str = "", with_digest: bool = False
) -> SeedResult:
    """Simulate one seed and return what it came to; a broken promise is in `failure`.

    `plant` names a planted bug, "" plants none. Every eighth seed is also checked for what
    retention would remove, which costs too much to do for all.
    """
    clock = VirtualClock()
    with _backend(store, clock) as backend:
        simulation = Simulation(seed, backend, clock)
        with planted(plant, simulation), closing(simulation.site.reader):
            failure = simulation.run(thorough=seed % 8 == 0)
        site = simulation.site
        return SeedResult(
            seed=seed,
            events=simulation.checker.event_count,
            effects=site.scheduler.effects,
            seconds=site.scheduler.now / 1000,
            counts=dict(site.scheduler.counts),
            failure=failure,
            digest=journal_digest(site) if with_digest else "",
        )


def replay_line(failure: Failure, *, store: str = "memory", plant: str = "") -> str:
    """Return the command that repeats the failure."""
    command = f"dos simulate --seed {failure.seed} --store {store}"
    if plant:
        command += f" --plant {plant}"
    return command


@contextmanager
def _backend(store: str, clock: VirtualClock) -> Iterator[Backend]:
    """Open a store for one seed; that of SQLite is in a folder that is removed afterwards."""
    if store == "memory":
        yield MemoryBackend(clock=clock)
        return
    from dos.journal.backends.sqlite import SqliteBackend

    with TemporaryDirectory(prefix="dos-simulation-") as folder:
        backend = SqliteBackend(Path(folder) / "state.db", clock=clock)
        try:
            yield backend
        finally:
            backend.close()


CHUNK = 40  # seeds that a process simulates at a time
FAILURES_SHOWN = 5
ENOUGH = 500  # seeds after which every fault and refusal should have happened


class BatchRequest(Struct, frozen=True, kw_only=True):
    """Which seeds to simulate, on which store, with which planted bug.

    `first` and `count` give the range of seeds; `jobs` is the most processes that may be used.
    """

    first: int = 0
    count: int = 1_000
    store: str = "memory"
    plant: str = ""
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)

    @property
    def workers(self) -> int:
        """How many processes are worth starting."""
        return min(self.jobs, -(-self.count // CHUNK))


class Summary(Struct, kw_only=True):
    """The results of many seeds.

    It is sent from the processes of a batch and added up; only the first failures keep their
    events.
    """

    seeds: int = 0
    seconds: float = 0.0  # of real time
    events: int = 0
    effects: int = 0
    virtual_seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    failing: int = 0
    failures: list[Failure] = field(default_factory=list)  # the first ones, by seed

    def add(self, other: "Summary") -> None:
        """Add the results of more seeds; only the first failures are kept."""
        self.seeds += other.seeds
        self.events += other.events
        self.effects += other.effects
        self.virtual_seconds += other.virtual_seconds
        self.failing += other.failing
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        failures = [*self.failures, *other.failures]
        failures.sort(key=lambda failure: failure.seed)
        self.failures = failures[:FAILURES_SHOWN]

    @property
    def fault_count(self) -> int:
        """How many faults struck, in all seeds together."""
        return sum(self.counts.get(name, 0) for name in faults.FAULTS)

    @property
    def never_happened(self) -> list[str]:
        """Return the faults and refusals that did not happen: they were not tested.

        A batch of fewer than ENOUGH seeds is too short to tell.
        """
        if self.seeds < ENOUGH:
            return []
        names = (*faults.FAULTS, *faults.REFUSALS)
        return [name for name in names if not self.counts.get(name)]


def check(asked: BatchRequest) -> None:
    """Raise BadInput for an unknown store or bug, or a number out of range."""
    for name, value, known in (
        ("store", asked.store, STORES),
        ("plant", asked.plant, ("", *PLANTED)),
    ):
        if value not in known:
            raise BadInput(
                f"there is no {name} {value!r}",
                hint=f"Use one of: {', '.join(filter(None, known))}.",
            )
    for name, number, least in (
        ("seed", asked.first, 0),
        ("seeds", asked.count, 1),
        ("jobs", asked.jobs, 1),
    ):
        if not least <= number <= 1_000_000_000:
            raise BadInput(f"--{name} is {number}", hint=f"Give a number from {least} upwards.")


def run(asked: BatchRequest) -> Iterator[Summary]:
    """Yield the summary so far after every chunk; a planted bug ends the batch when it is found."""
    began = time.monotonic()
    summary = Summary()
    for piece in _pieces(asked):
        summary.add(piece)
        summary.seconds = time.monotonic() - began
        yield summary
        if asked.plant and summary.failing:
            return


def _pieces(asked: BatchRequest) -> Iterator[Summary]:
    """Yield the summary of each chunk, in the order in which they are done.

    No more than two chunks a process wait in the pool, so that a batch that is ended early has
    little left to cancel.
    """
    ends = asked.first + asked.count
    chunks = ((first, min(first + CHUNK, ends), asked) for first in range(asked.first, ends, CHUNK))
    if asked.workers <= 1:
        yield from map(_chunk, chunks)
        return
    # Spawned instead of forked: the calling process may have threads.
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[Summary]] = {
            pool.submit(_chunk, chunk) for chunk in islice(chunks, 2 * asked.workers)
        }
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                waiting |= {pool.submit(_chunk, chunk) for chunk in islice(chunks, len(done))}
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _chunk(asked: tuple[int, int, BatchRequest]) -> Summary:
    """Simulate the seeds from `first` to `end` in this process.

    It is called in another process, so its arguments are one value that can be pickled.
    """
    first, end, how = asked
    summary = Summary()
    gc.collect()
    gc.disable()  # a chunk leaves little garbage, and collecting it takes a tenth of the time
    try:
        for seed in range(first, end):
            summary.add(_seed_summary(simulate(seed, store=how.store, plant=how.plant)))
            if how.plant and summary.failing:
                break
    finally:
        gc.enable()
    return summary


def _seed_summary(result: SeedResult) -> Summary:
    """Return the result of one seed as a summary, so that it can be added to others."""
    failures = [result.failure] if result.failure else []
    return Summary(
        seeds=1,
        events=result.events,
        effects=result.effects,
        virtual_seconds=result.seconds,
        counts=result.counts,
        failing=len(failures),
        failures=failures,
    )


def summary_line(summary: Summary) -> str:
    """Return the summary in one line."""
    virtual_days = summary.virtual_seconds / 86_400
    return (
        f"{summary.seeds:,} seeds in {summary.seconds:.1f} s: {summary.events:,} events, "
        f"{virtual_days:.1f} virtual days, {summary.fault_count:,} faults, "
        f"{summary.failing} failing"
    )


def failure_lines(summary: Summary, asked: BatchRequest) -> list[str]:
    """Return, for each of the first failures, its command, its promise and the last events."""
    lines: list[str] = []
    for failure in summary.failures:
        lines += [
            "",
            replay_line(failure, store=asked.store, plant=asked.plant),
            f"  {failure.invariant}: {failure.detail}",
            f"  {INVARIANTS[failure.invariant]}",
        ]
        lines += [f"  {event}" for event in failure.story]
    return lines
