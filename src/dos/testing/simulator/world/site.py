"""One simulated system: the scheduler, the store, the repository, two hosts and their state.

The store is real: memory or SQLite, on the virtual clock. The folds are the product's own. Both
hosts give the same host name, as machines made from one image do; they differ by their system id.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TypeVar

from dos.backlog.attempts import Attempts
from dos.baseline.gate import Baselines
from dos.config.load import FILE_NAME
from dos.fleet.effect import Steps, do
from dos.fleet.effects import Pause
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.steering import Steering
from dos.fleet.supervisor import Supervisor, SupervisorProcess, SupervisorResult
from dos.fleet.worker import start_state
from dos.fleet.worker.iteration import Stop
from dos.fleet.worker.worker import Worker
from dos.journal import streams
from dos.journal.backend import Backend, ReadTransaction
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.envelope import Event
from dos.journal.events.lanes import LeaseRenewed
from dos.journal.events.limits import DecisionAnswered, PlansApproved, SettingsApproved
from dos.journal.store import Store
from dos.landing.queue import LandingQueue
from dos.lease import Lease, Request
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.loop.types import LoopState
from dos.questions.state import Decisions
from dos.testing.simulator.world import faults, workspace
from dos.testing.simulator.world.branch_view import BranchView
from dos.testing.simulator.world.faults import FaultPlan, LaneFaultPlan
from dos.testing.simulator.world.process import Host, Performers, Process, VirtualClock
from dos.testing.simulator.world.repository import Repository
from dos.testing.simulator.world.scheduler import Scheduler
from dos.testing.simulator.world.shared_lanes import with_shared_lanes
from dos.testing.simulator.world.watched_events import offering
from dos.testing.simulator.world.workspace import (
    ITERATIONS,
    PLAN,
    HostTexts,
    declared_unit,
    first_state,
    plan_text,
    portfolio,
    settings_text,
)
from dos.units.unit import Unit
from dos.workspace import Workspace

T = TypeVar("T")
DEADLY = 0.3  # share of the worlds with more questions that have a deadly unit
MOST_EVENTS = 1_000_000
_NOWHERE = Path("/simulated")
FOLDERS = Workspace(root=_NOWHERE, tree=_NOWHERE, common=None, state=_NOWHERE)
OF_TEXTS = (PlansApproved.kind, SettingsApproved.kind, DecisionAnswered.kind)
HOST_NAME = "twin"  # all hosts have this name: machines made from one image share it


class EventReader:
    """Reads the store after every write.

    In memory one view stays open: opening a view costs more than reading it.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._open = ExitStack()
        self._view: ReadTransaction | None = None
        if isinstance(backend, MemoryBackend):
            self._view = self._open.enter_context(backend.read())

    def close(self) -> None:
        """Close the view that stays open."""
        self._open.close()

    def tail(self, after: int) -> list[Event]:
        """Return the events after the position."""
        return self._read(lambda view: view.tail(after, MOST_EVENTS))

    def leases(self) -> list[Lease]:
        """Return the table of leases."""
        return self._read(lambda view: view.leases())

    def last(self) -> int:
        """Return the position of the newest event."""
        return self._read(lambda view: view.last())

    def _read(self, query: Callable[[ReadTransaction], T]) -> T:
        if self._view is not None:
            return query(self._view)
        with self._backend.read(once=True) as view:
            return query(view)


class Site:
    """The simulated world that all performers share.

    The states below are folded event by event, so that no process has to read the whole journal.
    """

    folders = FOLDERS
    _supervisors = 0  # started so far
    unit_added_at = 0  # position of the event after the newest replan that added a unit

    def __init__(
        self,
        random: Random,
        backend: Backend,
        clock: VirtualClock,
        *,
        is_checked: bool = False,
        shares: bool = False,
        asking: Random | None = None,
        lanes: Random | None = None,
    ) -> None:
        """Draw the world from the seed; where it `shares`, several workers share a lane.

        `asking` draws the faults that people are asked about; None: there are none. `lanes` draws
        those inside lanes, and what a landing has to show.
        """
        self.random = random
        self.question_random = asking
        drawn = workspace.draw_workspace(random, is_checked=is_checked)
        self.workspace = with_shared_lanes(drawn) if shares else drawn
        self.fault_plan = FaultPlan(random)
        self.lane_faults = LaneFaultPlan(lanes or Random(0))
        self.scheduler = Scheduler(random, self.fault_plan, clock)
        self.scheduler.give_up_ms = self.workspace.ttl_ms
        self.backend = backend
        self.store = Store(backend, actor="person")
        self.reader = EventReader(backend)
        self.repository = Repository()
        self.repository.on_replanned = self._add_unit
        self.units = list(self.workspace.units)
        self.hosts = [Host(name) for name in workspace.HOSTS]
        # By host, in worlds with more questions; elsewhere plans and settings are never edited.
        self.texts: dict[str, HostTexts] = {}
        self.deadly_unit = ""  # the unit that most workers die at
        if asking:
            if self.units and asking.random() < DEADLY:
                self.deadly_unit = asking.choice(self.units).name
            self.repository.documents = {
                PLAN: plan_text(self.units),
                FILE_NAME: settings_text(ITERATIONS),
            }
            self.texts = {host.name: HostTexts(host.name, self.repository) for host in self.hosts}
        self.fleet = FleetState()
        self.quota = ProviderLimits()
        self.spend = FleetSpend()
        self.attempts = Attempts()
        self.decisions = Decisions()
        self.landing_queue = LandingQueue()
        self.steering = Steering()
        self.baselines = Baselines()
        self.host_faults: dict[str, str] = {}  # host -> its fault, once a supervisor has checked it
        self.event_count = 0  # events other than renewals
        self.text_event_count = 0  # approvals and answers
        self.offer_event_count = 0  # events that may change which units are open
        self.admit = self.workspace.admission_rules()
        self.worker_performers: Performers = {}
        self.fleet_performers: Performers = {}
        self._views: dict[int, BranchView] = {}  # by process
        self._by_run: dict[str, Process] = {}
        self._pid = 100

    def _add_unit(self, lane: str) -> None:
        """Let a replan add one unit, at most once for each lane."""
        lane = self.workspace.config.lanes.whole_of(lane) or lane
        unit = declared_unit(f"{lane.upper()}9", "found by a replan", lane)
        if unit not in self.units and self.random.random() < 0.5:
            self.units.append(unit)
            self.unit_added_at = self.reader.last() + 1
            if self.texts:
                self._commit_plan(unit)

    def _commit_plan(self, unit: Unit) -> None:
        """Commit the unit to the plan; checkouts without edits of their own follow the branch."""
        before = self.repository.documents[PLAN]
        after = plan_text([*portfolio(before).units, unit])
        self.repository.documents[PLAN] = after
        for texts in self.texts.values():
            if texts.plan.on_disk == before:
                texts.plan.write(after)

    def units_on(self, host: Host) -> Sequence[Unit]:
        """Return the units of the plan that counts on this host."""
        texts = self.texts.get(host.name)
        if texts is None:
            return self.units
        return texts.units(self.store, self.decisions, self.text_event_count)

    def all_units(self) -> Iterator[Unit]:
        """Yield the units of all hosts, some of them several times."""
        yield from self.units
        if self.texts:
            for host in self.hosts:
                yield from self.units_on(host)

    def branch_view(self, process: Process | None) -> BranchView:
        """Return the process's view of the target branch; a new one for None."""
        new_view = BranchView(self.repository, is_watched=self.question_random is not None)
        if process is None:
            return new_view
        return self._views.setdefault(process.pid, new_view)

    def fleet_on_target(self, view: BranchView, units: Sequence[Unit]) -> FleetState:
        """Return the fleet's state as the target branch shows it."""
        live: set[str] = set()
        if self.question_random:
            live = {lease.run_id for lease in self.live_leases()} - {""}
        return view.fleet_on_target(self.fleet, units, self.decisions, live)

    def start_supervisor(self, host: Host, *, by_person: bool = True) -> Process:
        """Start a supervisor; a person who starts one approves the texts on disk."""
        process = self._process(host, streams.supervisor(host.name), "")
        self._upgrade(host)
        own = SupervisorProcess(
            host=HOST_NAME, system=host.name, pid=process.pid, version=str(host.version)
        )
        supervisor = Supervisor(
            own,
            target=self.workspace.target,
            tick_seconds=self.workspace.tick_seconds,
            until_idle=True,
            policy=self.workspace.config.supervise.policy(),
        )
        if by_person and self.texts:
            process.generator = self._approve_and_supervise(process, supervisor)
        else:
            process.generator = supervisor.supervise()
        process.performers = self.fleet_performers
        host.supervisor = process
        self.scheduler.schedule(self.random.randint(50, 3_000), self.scheduler.begin, process)
        return process

    def _upgrade(self, host: Host) -> None:
        """Install another version before every third start of a supervisor, on any host."""
        self._supervisors += 1
        if self._supervisors % 3 == 0:
            host.version += 1
            self.scheduler.counts[faults.UPGRADE] += 1

    def _approve_and_supervise(
        self, process: Process, supervisor: Supervisor
    ) -> Steps[SupervisorResult]:
        """Approve the texts on disk as `dos up` does, once the store can be reached."""
        while process.host.away_until > self.scheduler.now:
            yield from do(Pause(seconds=1))
        self.texts[process.host.name].approve(process.store, self.scheduler.clock.wall_ms())
        self.scheduler.on_write()
        return (yield from supervisor.supervise())

    def start_worker(
        self, host: Host, lane: str, run_id: str, launch_ms: int, settings: str | None = None
    ) -> Process:
        """Start a worker; `settings` is its dos.toml, None stands for the simulation's settings."""
        process = self._process(host, lane, run_id)
        first = self.workspace.state
        if settings is not None:
            first = first_state(settings, self.workspace.config)
        process.generator = self._work(process, first)
        process.performers = self.worker_performers
        self.scheduler.schedule(launch_ms, self.scheduler.begin, process)
        return process

    def _work(self, process: Process, first: LoopState) -> Steps[Stop]:
        """Work on the lane, from the state of the run that died there, if one did."""
        dead = start_state.dead_run(
            self.fleet,
            self.live_leases(),
            process.lane,
            lambda lease: self.has_exited(lease, process.host),
        )
        state = first
        if dead:
            state = start_state.state_after(self.store.load(streams.run(dead)), first)
        worker = Worker(
            lane=process.lane,
            run_id=process.run_id,
            state=state,
            version=str(process.host.version),
        )
        return (yield from worker.work())

    def _process(self, host: Host, lane: str, run_id: str) -> Process:
        """Create a process with a new pid and its own connection to the store."""
        self._pid += 1
        store = Store(self.backend, actor=run_id or lane)
        process = Process(host, self._pid, self.scheduler.now / 1000, store, lane, run_id)
        self.scheduler.add(process)
        self._by_run[run_id] = process
        return process

    def draws_question(self, share: float) -> bool:
        """Draw whether a fault happens that people are asked about."""
        return (
            self.question_random is not None
            and not self.scheduler.is_calm
            and self.question_random.random() < share
        )

    def lane_fault(self, name: str) -> bool:
        """Draw whether a fault inside a lane happens now, and count it."""
        if self.scheduler.is_calm or not self.lane_faults.happens(name):
            return False
        self.scheduler.counts[name] += 1
        return True

    def passes(self, unit: str, commit: str) -> bool:
        """Whether the unit's acceptance command passes on the commit.

        A command that passes without the work is corrected when the time of faults is over.
        """
        done = self.repository.shows_done(unit, commit)
        if done is not None:
            return done
        if self.scheduler.is_calm:
            return False
        return self.lane_faults.is_green_before(unit)

    def is_running(self, run_id: str) -> bool:
        """Whether a process of this run is alive, on any host."""
        process = self._by_run.get(run_id)
        return process is not None and process.alive

    def host_of(self, run_id: str) -> str:
        """Return the name of the run's host."""
        return self._by_run[run_id].host.name

    def holder(self, lease: Request) -> Process | None:
        """Return the process that took the lease."""
        return self.scheduler.processes.get(lease.pid or 0)

    def has_exited(self, lease: Request, host: Host) -> bool:
        """Whether the holder has exited; a host can tell only for its own processes."""
        if lease.system != host.name:
            return False
        process = self.holder(lease)
        return process is None or not process.alive

    def live_leases(self) -> list[Lease]:
        """Return the leases of lanes that have not expired."""
        now = self.scheduler.clock.lease_ms()
        return [
            lease for lease in self.reader.leases() if not lease.is_lock and lease.expires_ms > now
        ]

    def apply(self, event: Event) -> None:
        """Fold one event into all states; renewals change none of them.

        The counters say whether what was derived from the states before is still right.
        """
        if event.kind == LeaseRenewed.kind:
            return
        self.event_count += 1
        self.offer_event_count += event.kind in offering.handles
        self.text_event_count += event.kind in OF_TEXTS
        self.fleet.apply(event)
        self.quota.apply(event)
        self.attempts.apply(event)
        if self.workspace.has_budget:
            self.spend.apply(event)
        self.decisions.apply(event)
        self.landing_queue.apply(event)
        self.steering.apply(event)
        self.baselines.apply(event)
