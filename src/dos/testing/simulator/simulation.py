"""The parts of one simulation, put together: a whole system from its first supervisor to its rest."""

from collections.abc import Sequence
from random import Random
from typing import Any
from zlib import crc32

from msgspec import Struct

from dos.baseline.gate import Step
from dos.fleet import effects, observe
from dos.fleet import waits as waits_of
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, prune
from dos.journal.backend import Backend
from dos.journal.events.envelope import Event
from dos.journal.lease_state import Leases
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import TextChanged
from dos.testing.simulator import invariants
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.invariant_checker import InvariantChecker
from dos.testing.simulator.invariants import InvariantBroken
from dos.testing.simulator.outside_events import OutsideEvents
from dos.testing.simulator.supervisor_effects import SupervisorEffects
from dos.testing.simulator.worker_effects import WorkerEffects
from dos.testing.simulator.world.process import BEGIN_MS, Process, VirtualClock
from dos.testing.simulator.world.site import Site

LATER_MS = 30 * prune.DAY_MS


def check_end(
    site: Site, watch: InvariantChecker, fleets: SupervisorEffects, *, thorough: bool
) -> None:
    _check_repository(site, watch)
    _check_liveness(site, watch, fleets)
    if watch.event_count != len(site.reader.tail(0)):
        raise InvariantBroken(invariants.POSITIONS, f"{watch.event_count} events were seen")
    if thorough:
        _check_retention(site)


def journal_digest(site: Site) -> str:
    """Of everything that was written and landed: the same for the same seed, wherever it runs."""
    seen = 0
    for event in site.store.events():
        row = (
            event.stream,
            event.ver,
            event.kind,
            event.raw,
            event.fence,
            event.key,
            event.at_ms,
            event.actor,
        )
        seen = crc32(repr(row).encode(), seen)
    return f"{crc32(repr((site.repository.target, site.repository.salvaged)).encode(), seen):08x}"


def _check_repository(site: Site, watch: InvariantChecker) -> None:
    repository = site.repository
    if repository.doubled:
        raise InvariantBroken(invariants.ONCE, f"git holds {repository.doubled[0]} twice")
    for unit, commit in repository.landed.items():
        if commit not in watch.intended:
            raise InvariantBroken(
                invariants.INTENT,
                f"{unit} is on the branch in {commit}, which was never written as intended",
            )
    missing = set(range(1, repository.edits + 1)) - repository.reachable_edits()
    if missing:
        raise InvariantBroken(invariants.KEPT, f"edit {min(missing)} is nowhere any more")


def _check_liveness(site: Site, watch: InvariantChecker, fleets: SupervisorEffects) -> None:
    machine = site.scheduler
    running = [process for process in machine.processes.values() if process.alive]
    # Told to wait until tomorrow is an end for today; its supervisors stay with it.
    is_parked = any(_waits_for_long(process.effect, machine.ends_at) for process in running)
    # Only the host of a worker that died at its start can say that nobody is on the way any more.
    views = [fleets.observation(host) for host in site.hosts]
    seen = views[0]
    waits = is_parked or any(
        _waits_for_tomorrow(view, machine.ends_at) for view in (views if site.texts else [seen])
    )
    if running and not waits:
        which = running[0]
        doing = type(which.effect).__name__
        raise InvariantBroken(
            invariants.LIVENESS,
            f"{which.lane} ({which.run_id or 'supervisor'}) still runs, at {doing}",
        )
    if watch.landed_at > watch.fleet_ended_at:
        return  # who had slept over its lease woke when the fleet had ended: the next start goes on from there
    # Of a host whose tests fail a person was told; who starts the fleet again may do it there.
    unmended = any(fleets.baseline_of(host).step is Step.WAIT for host in site.hosts)
    for lane in site.workspace.config.roster():
        asked = any(observe.waits_for_a_person(view, lane) for view in views)
        # Where texts differ, what one host alone could offer is for its own fleet to do.
        is_open = (
            all(view.backlogs[lane].open for view in views)
            if site.texts
            else seen.backlogs[lane].open
        )
        if is_open and not (site.fleet.drain or waits or unmended or asked):
            raise InvariantBroken(
                invariants.LIVENESS, f"lane {lane} has work to offer, and nobody works on it"
            )
    for question in [] if site.fleet.drain else _unasked(views if site.texts else [seen]):
        raise InvariantBroken(invariants.LIVENESS, f"nobody was asked: {question.text}")


def _unasked(views: Sequence[Observation]) -> list[AnyQuestion]:
    """What every host would ask; about the texts of a checkout, its own."""
    asked = [{question.id: question for question in observe.questions(view)} for view in views]
    everywhere = [
        question for name, question in asked[0].items() if all(name in each for each in asked)
    ]
    texts = [
        question
        for each in asked
        for question in each.values()
        if isinstance(question, TextChanged)
    ]
    return [*everywhere, *texts]


def _waits_for_long(effect: object, ends_at: int) -> bool:
    return isinstance(effect, effects.Park) and (effect.until_ms or 0) > BEGIN_MS + ends_at


def _waits_for_tomorrow(seen: Observation, ends_at: int) -> bool:
    """A lane waits for a time that is not over by the end."""
    waiting = (each.until for lane in waits_of.own_waits(seen).lanes.values() for each in lane)
    return any(until.timestamp() * 1000 > BEGIN_MS + ends_at for until in waiting if until)


def _check_retention(site: Site) -> None:
    happened = list(site.store.events())
    gone = prune.superseded(
        happened, older_than_ms=0, now_ms=site.scheduler.clock.wall_ms() + LATER_MS
    )
    removed = {event.pos for event in gone}
    kept = [event for event in happened if event.pos not in removed]
    for kind in (FleetState, Leases):
        if fold.fold(kind(), kept) != fold.fold(kind(), happened):
            raise InvariantBroken(
                invariants.RETENTION, f"{kind.name} without {len(gone)} events is another"
            )


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
        self.workers = WorkerEffects(site, self.agents)
        self.supervisors = SupervisorEffects(site, self.workers)
        self.outside_events = OutsideEvents(site)
        self.checker = InvariantChecker(site, self.supervisors)
        site.scheduler.on_write = self.checker.check_new_events
        site.scheduler.on_pause = self.outside_events.on_pause
        site.scheduler.on_end = self._ended
        self.outside_events.on_halt = self.agents.stop  # type: ignore[method-assign]
        self.outside_events.list_questions = self.supervisors.open_questions  # type: ignore[method-assign]
        self.checker.on_question = self.outside_events.read_question
        site.scheduler.on_lease_lost = self.agents.stop  # type: ignore[method-assign]

    def _ended(self, process: Process, answer: Any) -> None:
        self.checker.process_ended(process, answer)
        self.outside_events.on_end(process, answer)

    def run(self, *, thorough: bool) -> Failure | None:
        site = self.site
        site.worker_performers = self.workers.table()
        site.fleet_performers = self.supervisors.table()
        try:
            self.outside_events.begin()
            site.scheduler.run()
            check_end(site, self.checker, self.supervisors, thorough=thorough)
        except InvariantBroken as broken:
            return Failure(
                seed=self.seed,
                invariant=broken.invariant,
                detail=broken.detail,
                at_seconds=site.scheduler.now / 1000,
                story=[_event_line(event) for event in self.checker.newest],
            )
        return None


def _event_line(event: Event) -> str:
    seconds = (event.at_ms - VirtualClock().wall_ms()) / 1000
    fence = "" if event.fence is None else f" under {event.fence}"
    return f"{seconds:9.3f}  {event.pos:>4}  {event.stream}  {event.kind}{fence}  {event.raw.decode()[:160]}"
