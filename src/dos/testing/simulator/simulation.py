"""One simulation: its parts put together, run to the end, and checked at rest.

Most promises are checked at every write by InvariantChecker. Those about the end are checked here:
git holds every edit, every lane has ended or has a reason, and retention removes nothing needed.
"""

from collections.abc import Sequence
from random import Random
from typing import Any
from zlib import crc32

from msgspec import Struct

from dos.baseline.gate import Step
from dos.fleet import effects, observe
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetState
from dos.fleet.waits import own_waits
from dos.journal import fold, prune
from dos.journal.backend import Backend
from dos.journal.events.envelope import Event
from dos.journal.lease_state import Leases
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import TextChanged
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.invariant_checker import InvariantChecker
from dos.testing.simulator.outside_events import OutsideEvents
from dos.testing.simulator.supervisor_effects import SupervisorEffects
from dos.testing.simulator.talks.talks import Talks
from dos.testing.simulator.worker_effects import WorkerEffects
from dos.testing.simulator.world import invariants
from dos.testing.simulator.world.invariants import InvariantBroken
from dos.testing.simulator.world.process import BEGIN_MS, Process, VirtualClock
from dos.testing.simulator.world.site import Site

LATER_MS = 30 * prune.DAY_MS


def check_end(
    site: Site, checker: InvariantChecker, fleets: SupervisorEffects, *, thorough: bool
) -> None:
    """Check the invariants that hold at rest; raises InvariantBroken.

    `thorough` also folds the journal without the events that retention would remove.
    """
    _check_repository(site, checker)
    _check_liveness(site, checker, fleets)
    if checker.event_count != len(site.reader.tail(0)):
        raise InvariantBroken(invariants.POSITIONS, f"{checker.event_count} events were checked")
    if thorough:
        _check_retention(site)


def journal_digest(site: Site) -> str:
    """Return a digest of all events and of git: the same for the same seed, on every machine."""
    checksum = 0
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
        checksum = crc32(repr(row).encode(), checksum)
    refs = repr((site.repository.target, site.repository.salvaged))
    return f"{crc32(refs.encode(), checksum):08x}"


def _check_repository(site: Site, checker: InvariantChecker) -> None:
    """Check that no unit landed twice or unannounced, and that no agent's edit is lost."""
    repository = site.repository
    if repository.doubled:
        raise InvariantBroken(invariants.ONCE, f"git has {repository.doubled[0]} twice")
    for unit, commit in repository.landed.items():
        if commit not in checker.intended:
            raise InvariantBroken(
                invariants.INTENT,
                f"{unit} is on the branch in {commit}, which was not recorded as intended",
            )
    missing = repository.lost_edits()
    if missing:
        raise InvariantBroken(invariants.KEPT, f"edit {min(missing)} is lost")


def _check_liveness(site: Site, checker: InvariantChecker, fleets: SupervisorEffects) -> None:
    """Raise if a process still runs, or a lane has open units and no reason for having no worker.

    A lane may wait for a time after the end, for a person, or for a host whose tests fail; a
    drained fleet owes nothing.
    """
    # Every host is asked: only the host of a worker that died at its start can tell that it died.
    views = [fleets.observation(host) for host in site.hosts]
    # Where texts differ, each host decides by its own; elsewhere the first stands for all.
    deciding = views if site.texts else views[:1]
    waits = _waits_beyond_end(site, deciding)
    if not waits:
        _check_ended(site)
    if max(checker.landed_at, site.unit_added_at) > checker.fleet_ended_at:
        # A worker that had slept woke after the fleet had ended: the next start resumes from there.
        return
    if site.fleet.drain:
        return
    # A person was told that the tests of a host fail.
    has_red_host = any(fleets.baseline_of(host).step is Step.WAIT for host in site.hosts)
    for lane in deciding[0].backlogs:
        is_asked = any(observe.waits_for_a_person(view, lane) for view in views)
        is_open = all(view.backlogs[lane].open for view in deciding)
        if is_open and not (waits or has_red_host or is_asked):
            raise InvariantBroken(invariants.LIVENESS, f"lane {lane} has open units and no worker")
    for question in _unasked(deciding):
        raise InvariantBroken(invariants.LIVENESS, f"no person was asked: {question.text}")


def _waits_beyond_end(site: Site, views: Sequence[Observation]) -> bool:
    """Whether a worker or a lane waits for a time after the end of the simulation."""
    ends_at = site.scheduler.ends_at
    for process in site.scheduler.processes.values():
        if process.alive and _waits_for_long(process.effect, ends_at):
            return True
    return any(_waits_for_tomorrow(view, ends_at) for view in views)


def _check_ended(site: Site) -> None:
    """Raise if a process is still alive although nothing is left to wait for."""
    for process in site.scheduler.processes.values():
        if process.alive:
            effect = type(process.effect).__name__
            raise InvariantBroken(
                invariants.LIVENESS,
                f"{process.lane} ({process.run_id or 'supervisor'}) still runs, at {effect}",
            )


def _unasked(views: Sequence[Observation]) -> list[AnyQuestion]:
    """Return the questions that should have been asked and are not open.

    Those are what every host would ask, and what each would ask about its own texts.
    """
    by_host = []
    for view in views:
        by_host.append({question.id: question for question in observe.questions(view)})
    unasked = []
    for name, question in by_host[0].items():
        if all(name in questions for questions in by_host):
            unasked.append(question)
    for questions in by_host:
        unasked += [each for each in questions.values() if isinstance(each, TextChanged)]
    return unasked


def _waits_for_long(effect: object, ends_at: int) -> bool:
    """Whether a worker is parked until after the end of the simulation."""
    return isinstance(effect, effects.Park) and (effect.until_ms or 0) > BEGIN_MS + ends_at


def _waits_for_tomorrow(view: Observation, ends_at: int) -> bool:
    """Whether a lane waits for a time after the end of the simulation."""
    for lane_waits in own_waits(view).lanes.values():
        for wait in lane_waits:
            if wait.until and wait.until.timestamp() * 1000 > BEGIN_MS + ends_at:
                return True
    return False


def _check_retention(site: Site) -> None:
    """The folds are the same without the events that retention would remove."""
    events = list(site.store.events())
    now_ms = site.scheduler.clock.wall_ms() + LATER_MS
    superseded = prune.superseded(events, older_than_ms=0, now_ms=now_ms)
    removed = {event.pos for event in superseded}
    kept = [event for event in events if event.pos not in removed]
    for kind in (FleetState, Leases):
        if fold.fold(kind(), kept) != fold.fold(kind(), events):
            raise InvariantBroken(
                invariants.RETENTION, f"{kind.name} without {len(removed)} events differs"
            )


# One world in so many checks the target branch before it starts workers; another one has more
# questions to people.
CHECKED = 8  # one world in so many checks the target branch before it starts workers
ASKED = 8  # one world in so many, another one, has more questions to people
SHARED = 8  # one world in so many, again another one, has lanes that several workers share
TALKING = 8  # one world in so many, again another one, has agents that ask and are told


class Failure(Struct, frozen=True, kw_only=True):
    """The broken promise of a seed, and the last events before it.

    The seed alone repeats it; `at_seconds` is virtual time, and `story` is for people.
    """

    seed: int
    invariant: str
    detail: str
    at_seconds: float
    story: list[str]  # the last events before it


class Simulation:
    """The parts of one seed, put together.

    Parts that have to call each other are wired here by callbacks, so that the scheduler and the
    world know neither the checkers nor the people. Planted bugs replace methods of these objects.
    """

    def __init__(self, seed: int, backend: Backend, clock: VirtualClock) -> None:
        self.seed = seed
        # Not drawn from the seed's random numbers, so that the other worlds do not depend on it.
        is_checked = seed % CHECKED == CHECKED - 1
        asking = None
        if seed % ASKED == ASKED - 2:
            asking = Random(-seed)
        self.site = site = Site(
            Random(seed),
            backend,
            clock,
            is_checked=is_checked,
            shares=seed % SHARED == SHARED - 4,
            asking=asking,
            lanes=Random(f"lanes of {seed}"),
        )
        self.agents = Agents(site)
        if seed % TALKING == TALKING - 3:
            self.agents.talks = Talks(site, Random(f"talks of {seed}"))
        self.workers = WorkerEffects(site, self.agents)
        self.agents.on_progress = self.workers.take_over_progress
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
        """Check the process that has ended, and schedule the restart of a supervisor."""
        self.checker.process_ended(process, answer)
        self.outside_events.on_end(process, answer)

    def run(self, *, thorough: bool) -> Failure | None:
        """Run the simulation to its end; returns the broken promise, or None if all held."""
        site = self.site
        site.worker_performers = self.workers.table()
        site.fleet_performers = self.supervisors.table()
        try:
            self.outside_events.begin()
            self.agents.talks.begin()
            site.scheduler.run()
            check_end(site, self.checker, self.supervisors, thorough=thorough)
            self.agents.talks.check_end()
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
    """Return an event in one line: when, where, what, under which fence, and its content."""
    seconds = (event.at_ms - VirtualClock().wall_ms()) / 1000
    fence = "" if event.fence is None else f" under {event.fence}"
    body = event.raw.decode()[:160]
    return f"{seconds:9.3f}  {event.pos:>4}  {event.stream}  {event.kind}{fence}  {body}"
