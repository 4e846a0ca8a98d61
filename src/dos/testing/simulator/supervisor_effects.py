"""Performs a supervisor's effects in a simulation: one method for each.

Observation is the expensive part, so a lane is surveyed again only when an event, the branch or the
time can have changed its open units, and ticks at which nothing happened are skipped.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from dos import run_ids
from dos.backlog.io.target import ShownUnits
from dos.errors import Conflict
from dos.fleet import effects, observe
from dos.fleet.choose_agent import lanes_without_agent
from dos.fleet.io.launches import LAUNCH_MS
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.fleet.state.live import Pause
from dos.fleet.tick import (
    CheckBaseline,
    ExpireQuestion,
    FleetSnapshot,
    MintRun,
    ObserveFleet,
    RevokeLease,
    SpawnWorker,
    Warn,
)
from dos.fleet.worker_health import EXITED, EXPIRED, LaneHolders, LeaseHealth
from dos.journal import streams
from dos.journal.events.lanes import LeaseRevoked
from dos.journal.events.reader import select
from dos.lease import Lease
from dos.loop.verdicts import liveness
from dos.machine.process import Identity
from dos.questions.io import attention
from dos.questions.state import Decisions, expiry_entries
from dos.testing.simulator.baseline_effects import BaselineEffects
from dos.testing.simulator.worker_effects import WorkerEffects
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.branch_view import BranchView
from dos.testing.simulator.world.process import (
    SUSPENDED,
    Host,
    Performers,
    Process,
    Suspended,
    simulated_by,
)
from dos.testing.simulator.world.site import Site
from dos.units.unit import Unit

FOREVER_MS = 1 << 50
# The backlog of a lane that has a worker: it is not surveyed.
NO_WORK = effects.Backlog(
    open=[],
    held=[],
    on_cooldown=[],
    landed=[],
    completion=None,
    interrupted=[],
    pending_landings=[],
    history={},
)
# The most ticks in a row that are skipped.
QUIET_TICKS = 3
SPIN_MS = 120_000  # a run that landed nothing for this long makes no progress
SPIN_LOOK_MS = 60_000


class Tick(Struct, frozen=True, kw_only=True):
    """What a supervisor observed at one tick, for those who check what it makes of it.

    `seen` is the observation; `fleet` is what the product's planning gets of it.
    """

    position: int  # in the journal
    seen: Observation
    fleet: FleetSnapshot


class SupervisorEffects(BaselineEffects):
    """Performs a supervisor's effects: it can do what a worker can, and start workers.

    What a supervisor observes is computed by the product's own code, from the folded state of the
    site instead of from the journal.
    """

    def __init__(self, site: Site, workers: WorkerEffects) -> None:
        super().__init__(site)
        self.workers = workers
        # host -> how many workers its supervisor saw, and how many it started since
        self.population: dict[str, tuple[int, int]] = {}
        self._surveyed: dict[str, tuple[object, int, effects.Backlog]] = {}
        self._looked_for_spinning: dict[str, int] = {}
        self.on_observe: Callable[[Process, Tick], None] = lambda _process, _tick: None
        self.on_spawn: Callable[[Process, str | None], None] = lambda _process, _settings: None
        self.on_tick_end: Callable[[Process], None] = lambda _process: None

    def table(self) -> Performers:
        """Return the performer of each effect; a supervisor has all of a worker's, too."""
        rows = (
            simulated_by(ObserveFleet, self.observe),
            simulated_by(SpawnWorker, self.spawn),
            simulated_by(RevokeLease, self.revoke),
            simulated_by(ExpireQuestion, self.expire_question),
            simulated_by(CheckBaseline, self.check_baseline),
            simulated_by(Warn, self.warn),
            simulated_by(MintRun, self.mint),
            simulated_by(effects.Pause, self.pause),
        )
        return {**self.workers.table(), **dict(rows)}

    def observe(self, process: Process, effect: ObserveFleet) -> FleetSnapshot:
        """Observe the fleet as the product does, from this host."""
        view = self.site.branch_view(process)
        texts = self.site.texts.get(process.host.name)
        if texts:
            texts.keep_confirmed(process.store, self.site.decisions, self.site.text_event_count)
            self.scheduler.on_write()
        seen = structs.replace(
            self.observation(process.host, view), baseline=self.baseline_plan(process)
        )
        self.population[process.host.name] = (
            sum(bool(seen.working_on(lane)) for lane in seen.backlogs),
            0,
        )
        fleet = observe.snapshot(
            seen,
            supervisor=effect.lease,
            first=effect.is_first,
            incidents=view.incidents,
            begun=self.check_to_begin(process.host),
        )
        self.on_observe(process, Tick(position=self.site.reader.last(), seen=seen, fleet=fleet))
        return fleet

    def observation(self, host: Host, view: BranchView | None = None) -> Observation:
        """Return what a supervisor on this host observes; without a `view`, at its first look."""
        site = self.site
        now_ms = self.scheduler.clock.wall_ms()
        view = view or site.branch_view(None)
        units = site.units_on(host)
        texts = site.texts.get(host.name)
        state = site.fleet_on_target(view, units)
        workspace = site.workspace
        leases = {lease.lane: lease for lease in site.live_leases()}
        holders = self.lane_holders(host)
        working = leases.keys() - holders.dead_leases().keys()
        landed = {name for name, unit in state.units.items() if unit.landed}
        config = workspace.config_now(units, landed)
        backlogs = {}
        for name in config.roster():
            backlogs[name] = NO_WORK
            if name not in working:  # only lanes without a worker are surveyed
                backlogs[name] = self._backlog(name, units, state, view.shown, now_ms)
        candidates = {}
        if site.quota.limits or workspace.has_budget:
            open_lanes = [lane for lane, backlog in backlogs.items() if backlog.open]
            candidates = {lane: [workspace.agents] for lane in open_lanes}
        pauses = {}
        for name, why in site.fleet.paused.items():
            pauses[name] = Pause(since_ms=0, by="", reason=why)
        return Observation(
            config=config,
            state=site.fleet,
            on_target=state,
            units=units,
            unapproved=texts.plan_texts.unapproved if texts else (),
            changed_texts=texts.questions(site.decisions) if texts else (),
            where=texts.where if texts else "",
            answers=site.decisions,
            leases=leases,
            holders=holders,
            pauses=pauses,
            backlogs=backlogs,
            cannot_start=lanes_without_agent(
                workspace.config, candidates, site.quota, site.spend,
                site.fleet, now_ms=now_ms,
            ),
            limits=site.quota.limits,
            agents=workspace.agents,
            now_ms=now_ms,
            is_gone=lambda lease: self.has_exited(lease, host),
        )  # fmt: skip

    def open_questions(self) -> Decisions:
        """Return all open questions, as the first host's `dos decisions` lists them."""
        seen = self.observation(self.site.hosts[0])
        return attention.questions_for_people(
            self.site.decisions,
            self.site.reader.leases(),
            observe.declared_units(seen),
            now_ms=seen.now_ms,
        )

    def has_exited(self, lease: Lease, host: Host) -> bool:
        """Whether the holder of the lease has exited, as far as this host can tell.

        Planted bugs replace it, so that a supervisor misjudges a holder and other processes do not.
        """
        return self.site.has_exited(lease, host)

    def _never_started(self, starts: LaneStarts, host: Host) -> bool:
        """Whether the lane's last start has died, which only its own host can tell."""
        return starts.system == host.name and not self.site.is_running(starts.run_id)

    def _backlog(
        self, lane: str, units: Sequence[Unit], state: FleetState, shown: ShownUnits, now_ms: int
    ) -> effects.Backlog:
        """Return the lane's backlog; it is surveyed again only if something can have changed it."""
        asked = self.site.offer_event_count, self.site.repository.target, shown, list(units)
        before, until_ms, found = self._surveyed.get(lane, (None, 0, NO_WORK))
        if before != asked or now_ms >= until_ms:
            found = self.workers.backlog(units, state, lane, now_ms)
            until_ms = min(
                (rest.until_ms for rest in found.on_cooldown), default=now_ms + FOREVER_MS
            )
            self._surveyed[lane] = asked, until_ms, found
        return found

    def lane_holders(self, host: Host) -> LaneHolders:
        """Return who holds or is starting on each lane, and the health of the leases from here."""
        live, wall_ms = self.site.live_leases(), self.scheduler.clock.wall_ms()
        fences = {lease.fence for lease in live}
        lapsed = [
            lease
            for lease in self.site.reader.leases()
            if not (lease.is_lock or lease.fence in fences)
        ]
        # An expired lease whose process still runs on this host is left to the first to take it.
        over = [
            lease for lease in lapsed if lease.system != host.name or self.has_exited(lease, host)
        ]
        looks = self.scheduler.now - self._looked_for_spinning.get(host.name, 0) >= SPIN_LOOK_MS
        if looks:
            self._looked_for_spinning[host.name] = self.scheduler.now
        stands = {lease.fence: self._lease_health(lease, host, looks, wall_ms) for lease in live}
        stands |= {lease.fence: EXPIRED for lease in over}
        return LaneHolders(
            leases=[*live, *over], health=stands, launched=self.starting_lanes(host, wall_ms)
        )

    def _lease_health(self, lease: Lease, host: Host, looks: bool, wall_ms: int) -> LeaseHealth:
        """Judge a live lease: its process is gone, its run makes no progress, or all is well.

        Progress is judged only when the host `looks`, once a minute.
        """
        if self.has_exited(lease, host):
            return EXITED
        run = self.site.fleet.runs.get(lease.run_id)
        moves = run is None or run.parked or wall_ms - max(run.begun_ms, run.landed_ms) <= SPIN_MS
        if moves or not looks:
            return LeaseHealth(answer=liveness.Answer.ADVANCING, why="")
        return LeaseHealth(answer=liveness.Answer.SPINNING, why="nothing lands")

    def starting_lanes(self, host: Host, wall_ms: int) -> dict[str, int]:
        """Return the lanes whose worker is still starting."""
        return {
            lane: 1
            for lane, starts in self.site.fleet.starts.items()
            if starts.pending
            and wall_ms - starts.at_ms <= LAUNCH_MS
            and not self._never_started(starts, host)
        }

    def spawn(self, process: Process, effect: SpawnWorker) -> Identity | None:
        """Start a worker, which outlives its supervisor; a fault may delay or prevent it."""
        random, swarm = self.site.random, self.site.fault_plan
        calm = self.scheduler.is_calm
        if not calm and swarm.happens(faults.NO_START):
            self.scheduler.counts[faults.NO_START] += 1
            return None
        launch_ms = random.randint(300, 3_000)
        if not calm and swarm.happens(faults.SLOW_START):
            self.scheduler.counts[faults.SLOW_START] += 1
            launch_ms = random.randint(20_000, 150_000)
        settings = self.settings(process)
        self.on_spawn(process, settings)
        started = self.site.start_worker(
            process.host, effect.lane, effect.run_id, launch_ms, settings
        )
        if not calm and swarm.happens(faults.DIES_AT_START):
            self.scheduler.counts[faults.DIES_AT_START] += 1
            self.scheduler.schedule(launch_ms - 1, self.scheduler.kill, started)
        return Identity(started.pid, started.started)

    def settings(self, process: Process) -> str | None:
        """Return the dos.toml that a worker is started with; None where it is never edited."""
        texts = self.site.texts.get(process.host.name)
        if texts is None:
            return None
        return texts.settings.effective_text(process.store, self.site.decisions)

    def revoke(self, process: Process, effect: RevokeLease) -> bool:
        """Revoke the lease and end the agents under it; False if its holder moved meanwhile."""
        try:
            process.store.revoke(
                effect.lease.fence, version=effect.lease.version, reason=effect.reason
            )
        except Conflict:
            if not self._revoked(process, effect.lease):
                self.scheduler.counts[faults.REAP_REFUSED] += 1
                return False
        self.workers.agents.end_older_agents(
            process.host.name, effect.lease.lane, effect.lease.fence
        )
        return True

    def _revoked(self, process: Process, lease: Lease) -> bool:
        """Whether this supervisor revoked the lease itself and only the answer was lost."""
        following = process.store.load(
            streams.lease(lease.lane, is_lock=lease.is_lock), after=lease.version, limit=1
        )
        return any(
            event.actor == process.store.actor for event, _ in select(following, LeaseRevoked)
        )

    def warn(self, process: Process, effect: Warn) -> None:
        """Warnings are not read in a simulation."""

    def expire_question(self, process: Process, effect: ExpireQuestion) -> None:
        """Answer the question by its default, unless a person has answered it."""
        try:
            process.store.append_all(expiry_entries(effect.question, effect.choice, effect.reason))
        except Conflict:
            self.scheduler.counts[faults.ANSWER_RACE] += 1  # somebody has answered it

    def mint(self, process: Process, effect: MintRun) -> str:
        """Return a new run id by the host's clock, which may be wrong."""
        host_ms = self.scheduler.clock.wall_ms() + process.host.wrong_by_ms
        return run_ids.mint(
            host_ms, self.site.random.getrandbits(run_ids.ENTROPY_BITS), effect.process
        ).run_id

    def pause(self, process: Process, effect: effects.Pause) -> Suspended[None]:
        """Wait until the next tick; while nothing happens some ticks are skipped to save time."""
        self.on_tick_end(process)
        self._sleep(process, effect.seconds, self._news(), QUIET_TICKS)
        return SUSPENDED

    def _sleep(self, process: Process, seconds: float, news: object, ticks: int) -> None:
        """Resume the supervisor after its tick, or later while nothing happens."""

        def wake(_: object) -> None:
            if not process.alive:
                return
            if ticks and self._news() == news:
                self._sleep(process, seconds, news, ticks - 1)
            else:
                self.scheduler.resume(process, None)

        self.scheduler.schedule(seconds * 1000, wake)

    def _news(self) -> object:
        """Return a value that differs once something has happened that a tick could see."""
        return self.site.event_count, self.site.repository.target, self.scheduler.deaths
