"""How a supervisor's effects are performed in a simulation: one method for each."""

from dos.errors import Conflict
from dos.journal.events import LeaseRevoked
from dos.journal.states import decisions
from dos.journal.states import fleet as folded
from dos.plans.staffing import Lane
from dos.records import run_ids
from dos.records.leases import Lease, stream_of
from dos.runtime import effects
from dos.runtime.fleet import observing
from dos.runtime.fleet.observing import Seen
from dos.runtime.staff import choosing
from dos.runtime.supervisor import Fleet, Spinning
from dos.sources.processes import Identity
from dos.testing.simulation import faults
from dos.testing.simulation.machine import WAITING, Host, Performer, Process, Waiting
from dos.testing.simulation.site import Site
from dos.testing.simulation.worker_performers import WorkerPerformers

FOREVER_MS = 1 << 50
QUIET_TICKS = 3
SPIN_MS = 120_000  # without anything landed
SPIN_LOOK_MS = 60_000
SPIN_ANSWER_MS = 300_000


class FleetPerformers:
    """A supervisor can do what a worker can, and start workers."""

    def __init__(self, site: Site, workers: WorkerPerformers) -> None:
        self.site = site
        self.machine = site.machine
        self.workers = workers
        self.population: dict[str, tuple[int, int]] = {}  # host -> how many it saw, and has started since
        self._offered: dict[str, tuple[object, int, int]] = {}
        self._looked_for_spinning: dict[str, int] = {}

    def table(self) -> dict[type, Performer]:
        return {
            **self.workers.table(),
            effects.ObserveFleet: self.observe,
            effects.SpawnWorker: self.spawn,
            effects.RevokeLease: self.revoke,
            effects.LetExpire: self.let_expire,
            effects.MintRun: self.mint,
            effects.Pause: self.pause,
        }

    def observe(self, process: Process, effect: effects.ObserveFleet) -> Fleet:
        seen = self.seen(process.host)
        recorded, answers, now_ms = seen.state, seen.answers, seen.now_ms
        lanes = [self.lane(each) for each in observing.lanes(seen)]
        busy = any((lane.held and lane.ours) or lane.pending for lane in lanes)
        self.population[process.host.name] = sum(lane.taken and lane.ours and not lane.holder_gone for lane in lanes), 0
        return Fleet(
            lanes=lanes,
            leases=dict(seen.leases),
            versions={name: starts.version for name, starts in recorded.starts.items()},
            drain_requested=recorded.drain > effect.lease.fence,
            busy=busy,
            idle=not busy and not any(lane.offerable and not lane.failed for lane in lanes),
            times_failed={name: starts.times_failed for name, starts in recorded.starts.items()},
            questions=list(observing.questions(seen, {})),
            due=decisions.due(answers, now_ms),
            spinning=self._spinning(process.host, seen),
            found=observing.found(seen, list(self.site.repository.landed)) if effect.first else None,
        )

    def seen(self, host: Host) -> Seen:
        state, now_ms = self.workers.as_git_shows(self.site.fleet), self.machine.clock.wall_ms()
        leases = {lease.lane: lease for lease in self.site.live()}
        # What a lane that is held could offer is asked only about one that had stopped for a person before.
        offered = {
            name: self._offerable(name, state, now_ms) if name not in leases or self._had_stopped(name) else 0
            for name in self.site.setting.regions
        }
        return Seen(
            config=self.site.setting.config,
            state=self.site.fleet,
            answers=self.site.decisions,
            leases=leases,
            offered=offered,
            lane_of={unit.name: unit.lane for unit in self.site.units},
            roomless=self._roomless([lane for lane, units in offered.items() if units and lane not in leases], now_ms),
            now_ms=now_ms,
            gone=lambda lease: self.gone(lease, host),
            never_came=lambda starts: self._never_came(starts, host),
        )

    def gone(self, lease: Lease, host: Host) -> bool:
        return self.site.is_gone(lease, host)

    def _never_came(self, starts: folded.Starts, host: Host) -> bool:
        """Of a process elsewhere a host cannot say that it is gone."""
        return starts.host == host.name and not self.site.runs(starts.run_id)

    def _had_stopped(self, lane: str) -> bool:
        starts = self.site.fleet.starts.get(lane)
        return starts is not None and starts.stopped is not None

    def lane(self, seen: Lane) -> Lane:
        """As it is; a planted bug sees something else."""
        return seen

    def _roomless(self, lanes: list[str], now_ms: int) -> dict[str, effects.NoRoom]:
        site, setting = self.site, self.site.setting
        if not (site.quota.limits or setting.spends):
            return {}
        rooms = {
            lane: choosing.choose(
                setting.config, setting.agents, site.quota, site.spend, run_id="", lane=lane, iteration=0, now_ms=now_ms
            )
            for lane in lanes
        }
        return {lane: room for lane, room in rooms.items() if isinstance(room, effects.NoRoom)}

    def _offerable(self, lane: str, state: folded.Fleet, now_ms: int) -> int:
        """Surveyed anew only when something was said, or a unit's rest is over."""
        asked = self.site.offers, self.site.repository.target
        before, until_ms, offered = self._offered.get(lane, (None, 0, 0))
        if before != asked or now_ms >= until_ms:
            found = self.workers.backlog(state, lane, now_ms)
            until_ms = min((rest.until_ms for rest in found.resting), default=now_ms + FOREVER_MS)
            offered = len(found.open)
            self._offered[lane] = asked, until_ms, offered
        return offered

    def _spinning(self, host: Host, seen: Seen) -> list[Spinning]:
        if self.machine.now - self._looked_for_spinning.get(host.name, 0) < SPIN_LOOK_MS:
            return []
        self._looked_for_spinning[host.name] = self.machine.now
        return [
            Spinning(lease=lease, reason="nothing lands", expires_ms=seen.now_ms + SPIN_ANSWER_MS)
            for lease in seen.leases.values()
            if (run := seen.state.runs.get(lease.run_id))
            and not (run.parked or run.flagged or run.landed)
            and seen.now_ms - run.begun_ms > SPIN_MS
        ]

    def spawn(self, process: Process, effect: effects.SpawnWorker) -> Identity | None:
        """A worker outlives its supervisor."""
        random, swarm = self.site.random, self.site.swarm
        calm = self.machine.calm
        if not calm and swarm.happens(faults.NO_START):
            self.machine.counts[faults.NO_START] += 1
            return None
        launch_ms = random.randint(300, 3_000)
        if not calm and swarm.happens(faults.SLOW_START):
            self.machine.counts[faults.SLOW_START] += 1
            launch_ms = random.randint(20_000, 150_000)
        started = self.site.start_worker(process.host, effect.lane, effect.run_id, launch_ms)
        if not calm and swarm.happens(faults.DIES_AT_START):
            self.machine.counts[faults.DIES_AT_START] += 1
            self.machine.after(launch_ms - 1, self.machine.kill, started)
        return Identity(started.pid, started.started)

    def revoke(self, process: Process, effect: effects.RevokeLease) -> bool:
        try:
            process.store.revoke(effect.lease.fence, version=effect.lease.version, reason=effect.reason)
        except Conflict:
            if not self._revoked(process, effect.lease):
                self.machine.counts[faults.REAP_REFUSED] += 1
                return False
        self.workers.agents.end_leftovers(process.host.name, effect.lease.lane, effect.lease.fence)
        return True

    def _revoked(self, process: Process, lease: Lease) -> bool:
        """It was this supervisor that did it, and the answer was lost on its way."""
        following = process.store.load(stream_of(lease.lane, is_lock=lease.is_lock), after=lease.version, limit=1)
        return any(event.kind == LeaseRevoked.kind and event.actor == process.store.actor for event in following)

    def let_expire(self, process: Process, effect: effects.LetExpire) -> None:
        try:
            process.store.append_all(decisions.expiring(effect.asked))
        except Conflict:
            self.machine.counts[faults.ANSWER_RACE] += 1  # somebody has answered it

    def mint(self, process: Process, effect: effects.MintRun) -> str:
        host_ms = self.machine.clock.wall_ms() + process.host.wrong_by_ms
        return run_ids.mint(host_ms, self.site.random.getrandbits(run_ids.ENTROPY_BITS), effect.process).run_id

    def pause(self, process: Process, effect: effects.Pause) -> Waiting:
        """Until the next tick; while nothing happens a few are left out, since a missed one changes nothing."""
        self._sleep(process, effect.seconds, self._news(), QUIET_TICKS)
        return WAITING

    def _sleep(self, process: Process, seconds: float, news: object, ticks: int) -> None:
        def wake(_: object) -> None:
            if not process.alive:
                return
            if ticks and self._news() == news:
                self._sleep(process, seconds, news, ticks - 1)
            else:
                self.machine.go_on(process, None)

        self.machine.after(seconds * 1000, wake)

    def _news(self) -> object:
        return self.site.news, self.site.repository.target, self.machine.deaths
