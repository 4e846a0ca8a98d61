"""One seed: a whole system from its first supervisor to its rest, and what was found."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, field

from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import Event
from dos.journal.store import Backend
from dos.testing.simulation.agents import Agents
from dos.testing.simulation.clock import VirtualClock
from dos.testing.simulation.fleet_performers import FleetPerformers
from dos.testing.simulation.invariants import Broken
from dos.testing.simulation.machine import Process
from dos.testing.simulation.people import People
from dos.testing.simulation.planted.table import switched_on
from dos.testing.simulation.promises import finishing
from dos.testing.simulation.site import Site
from dos.testing.simulation.watching import Watch
from dos.testing.simulation.worker_performers import WorkerPerformers

STORES = ("memory", "sqlite")
CHECKED = 8  # in each so many'th world the target is checked before anybody is started
ASKED = 8  # in each so many'th, another one, people are asked about more, and may answer that they wait


class Failure(Struct, frozen=True, kw_only=True):
    seed: int
    invariant: str
    detail: str
    at_seconds: float
    story: list[str]  # the last events before it


class SeedResult(Struct, kw_only=True):
    """What the simulation of one seed came to."""

    seed: int
    events: int = 0
    effects: int = 0
    seconds: float = 0.0  # of virtual time
    counts: dict[str, int] = field(default_factory=dict)
    failure: Failure | None = None
    digest: str = ""


class Simulation:
    """The parts of one seed, put together."""

    def __init__(self, seed: int, backend: Backend, clock: VirtualClock) -> None:
        self.seed = seed
        # Not drawn: what the other worlds do must not depend on it.
        is_checked = seed % CHECKED == CHECKED - 1
        asking = Random(-seed) if seed % ASKED == ASKED - 2 else None
        self.site = site = Site(Random(seed), backend, clock, is_checked=is_checked, asking=asking)
        self.agents = Agents(site)
        self.workers = WorkerPerformers(site, self.agents)
        self.fleets = FleetPerformers(site, self.workers)
        self.people = People(site)
        self.watch = Watch(site, self.fleets)
        site.machine.look = self.watch.look
        site.machine.on_pause = self.people.paused
        site.machine.on_end = self._ended
        self.people.on_halt = self.agents.stop  # type: ignore[method-assign]
        self.people.look = self.fleets.waiting  # type: ignore[method-assign]
        self.watch.on_question = self.people.read_question
        site.machine.on_lost = self.agents.stop  # type: ignore[method-assign]

    def _ended(self, process: Process, answer: Any) -> None:
        self.watch.process_ended(process, answer)
        self.people.ended(process, answer)

    def run(self, *, thorough: bool) -> Failure | None:
        site = self.site
        site.worker_performers = self.workers.table()
        site.fleet_performers = self.fleets.table()
        try:
            self.people.begin()
            site.machine.run()
            finishing.check(site, self.watch, self.fleets, thorough=thorough)
        except Broken as broken:
            return Failure(
                seed=self.seed,
                invariant=broken.invariant,
                detail=broken.detail,
                at_seconds=site.machine.now / 1000,
                story=[_line(event) for event in self.watch.newest],
            )
        return None


def simulate(seed: int, *, store: str = "memory", plant: str = "", with_digest: bool = False) -> SeedResult:
    clock = VirtualClock()
    with _backend(store, clock) as backend:
        simulation = Simulation(seed, backend, clock)
        with switched_on(plant, simulation), closing(simulation.site.reader):
            failure = simulation.run(thorough=seed % 8 == 0)
        site = simulation.site
        return SeedResult(
            seed=seed,
            events=simulation.watch.seen,
            effects=site.machine.effects,
            seconds=site.machine.now / 1000,
            counts=dict(site.machine.counts),
            failure=failure,
            digest=finishing.digest(site) if with_digest else "",
        )


def replay_line(failure: Failure, *, store: str = "memory", plant: str = "") -> str:
    """What to type to see it again."""
    return f"dos simulate --seed {failure.seed} --store {store}" + (f" --plant {plant}" if plant else "")


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


def _line(event: Event) -> str:
    seconds = (event.at_ms - VirtualClock().wall_ms()) / 1000
    fence = "" if event.fence is None else f" under {event.fence}"
    return f"{seconds:9.3f}  {event.pos:>4}  {event.stream}  {event.kind}{fence}  {event.raw.decode()[:160]}"
