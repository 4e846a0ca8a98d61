"""One seed: a whole system from its first supervisor to its rest, and what was found."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct, field

from dos.journal.backend import Backend
from dos.journal.backends.memory import MemoryBackend
from dos.testing.simulator import end_checks
from dos.testing.simulator.mutants.table import switched_on
from dos.testing.simulator.simulation import Failure, Simulation
from dos.testing.simulator.world.clock import VirtualClock

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
            digest=end_checks.digest(site) if with_digest else "",
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
