"""The parts of one simulation, put together: a whole system from its first supervisor to its rest."""

from random import Random
from typing import Any

from msgspec import Struct

from dos.journal.backend import Backend
from dos.journal.events.envelope import Event
from dos.testing.simulator import end_checks
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.invariant_checker import Watch
from dos.testing.simulator.invariants import Broken
from dos.testing.simulator.outside_events import People
from dos.testing.simulator.supervisor_effects import FleetPerformers
from dos.testing.simulator.worker_effects import WorkerPerformers
from dos.testing.simulator.world.clock import VirtualClock
from dos.testing.simulator.world.scheduler import Process
from dos.testing.simulator.world.site import Site

CHECKED = 8  # in each so many'th world the target is checked before anybody is started
ASKED = (
    8  # in each so many'th, another one, people are asked about more, and may answer that they wait
)


class Failure(Struct, frozen=True, kw_only=True):
    seed: int
    invariant: str
    detail: str
    at_seconds: float
    story: list[str]  # the last events before it


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
            end_checks.check(site, self.watch, self.fleets, thorough=thorough)
        except Broken as broken:
            return Failure(
                seed=self.seed,
                invariant=broken.invariant,
                detail=broken.detail,
                at_seconds=site.machine.now / 1000,
                story=[_line(event) for event in self.watch.newest],
            )
        return None


def _line(event: Event) -> str:
    seconds = (event.at_ms - VirtualClock().wall_ms()) / 1000
    fence = "" if event.fence is None else f" under {event.fence}"
    return f"{seconds:9.3f}  {event.pos:>4}  {event.stream}  {event.kind}{fence}  {event.raw.decode()[:160]}"
