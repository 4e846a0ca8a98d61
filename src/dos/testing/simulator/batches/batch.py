"""Many seeds, on as many processes as are wanted, and what came of them all together."""

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
from dos.testing.simulator.invariants import INVARIANTS
from dos.testing.simulator.mutants.table import PLANTED, planted
from dos.testing.simulator.simulation import Failure, Simulation, journal_digest
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import VirtualClock

STORES = ("memory", "sqlite")


class SeedResult(Struct, kw_only=True):
    """What the simulation of one seed came to."""

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
    """What to type to see it again."""
    return f"dos simulate --seed {failure.seed} --store {store}" + (
        f" --plant {plant}" if plant else ""
    )


@contextmanager
def _backend(store: str, clock: VirtualClock) -> Iterator[Backend]:
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


CHUNK = 40  # seeds that a process does at a time
FAILURES_SHOWN = 5
ENOUGH = 500  # seeds after which everything should have happened at least once


class BatchRequest(Struct, frozen=True, kw_only=True):
    first: int = 0
    count: int = 1_000
    store: str = "memory"
    plant: str = ""
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)

    @property
    def workers(self) -> int:
        return min(self.jobs, -(-self.count // CHUNK))


class Summary(Struct, kw_only=True):
    seeds: int = 0
    seconds: float = 0.0  # by a clock on the wall
    events: int = 0
    effects: int = 0
    virtual_seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    failing: int = 0
    failures: list[Failure] = field(default_factory=list)  # the first ones, by seed

    def add(self, other: "Summary") -> None:
        self.seeds += other.seeds
        self.events += other.events
        self.effects += other.effects
        self.virtual_seconds += other.virtual_seconds
        self.failing += other.failing
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.failures = sorted([*self.failures, *other.failures], key=lambda each: each.seed)[
            :FAILURES_SHOWN
        ]

    @property
    def fault_count(self) -> int:
        return sum(self.counts.get(name, 0) for name in faults.FAULTS)

    @property
    def never_happened(self) -> list[str]:
        """What never happened in a run that is long enough for everything to happen: then nothing was tested."""
        wanted = (*faults.FAULTS, *faults.REFUSALS) if self.seeds >= ENOUGH else ()
        return [name for name in wanted if not self.counts.get(name)]


def check(asked: BatchRequest) -> None:
    for name, found, known in (
        ("store", asked.store, STORES),
        ("plant", asked.plant, ("", *PLANTED)),
    ):
        if found not in known:
            raise BadInput(
                f"there is no {name} {found!r}",
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
    """The summary so far, after every piece of the work. With a planted bug it ends when that is found."""
    began, summary = time.monotonic(), Summary()
    for piece in _pieces(asked):
        summary.add(piece)
        summary.seconds = time.monotonic() - began
        yield summary
        if asked.plant and summary.failing:
            return


def _pieces(asked: BatchRequest) -> Iterator[Summary]:
    ends = asked.first + asked.count
    chunks = ((first, min(first + CHUNK, ends), asked) for first in range(asked.first, ends, CHUNK))
    if asked.workers <= 1:
        yield from map(_chunk, chunks)
        return
    # Started anew instead of forked: whoever asks may have threads.
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[Summary]] = {
            pool.submit(_chunk, chunk) for chunk in islice(chunks, 2 * asked.workers)
        }
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                waiting |= {pool.submit(_chunk, chunk) for chunk in islice(chunks, len(done))}
                yield from (each.result() for each in done)
        finally:
            pool.shutdown(cancel_futures=True)


def _chunk(asked: tuple[int, int, BatchRequest]) -> Summary:
    first, end, how = asked
    summary = Summary()
    gc.collect()
    gc.disable()  # a chunk's garbage is small, and looking for it over and over takes a tenth of the time
    try:
        for seed in range(first, end):
            summary.add(_seed_summary(simulate(seed, store=how.store, plant=how.plant)))
            if how.plant and summary.failing:
                break
    finally:
        gc.enable()
    return summary


def _seed_summary(result: SeedResult) -> Summary:
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
    """Everything in one line."""
    virtual = summary.virtual_seconds / 86_400
    return (
        f"{summary.seeds:,} seeds in {summary.seconds:.1f} s: {summary.events:,} events, {virtual:.1f} virtual days, "
        f"{summary.fault_count:,} faults, {summary.failing} failing"
    )


def failure_lines(summary: Summary, asked: BatchRequest) -> list[str]:
    """Each of the first failures: what is broken, what happened just before, and what to type to see it again."""
    lines: list[str] = []
    for failure in summary.failures:
        lines += [
            "",
            f"{replay_line(failure, store=asked.store, plant=asked.plant)}",
            f"  {failure.invariant}: {failure.detail}",
            f"  {INVARIANTS[failure.invariant]}",
            *(f"  {each}" for each in failure.story),
        ]
    return lines
