"""How a supervisor's effects are performed for real."""

import secrets
import subprocess
import sys
import time

from dos.config.tables import Config
from dos.errors import Conflict
from dos.evidence import holders
from dos.journal import fold
from dos.journal.events import LeaseRevoked
from dos.journal.states import fleet as folded
from dos.plans.staffing import Lane
from dos.records import run_ids
from dos.records.leases import Lease, stream_of
from dos.records.regions import region
from dos.runtime import backlog, effects, leftovers, logs
from dos.runtime.drive import Performers
from dos.runtime.supervisor import Fleet
from dos.runtime.worker_effects import WorkerEffects
from dos.sources import processes
from dos.sources.workspace import Workspace

START_SECONDS = 120.0  # a worker that has not taken its lease by then is not coming
INTENSITY_SECONDS = 60.0
REST_SECONDS = 30.0  # after a run was told to wait


class FleetEffects(WorkerEffects):
    """A supervisor can do what a worker can, and start workers."""

    def __init__(self, place: Workspace, config: Config, *, actor: str) -> None:
        super().__init__(place, config, actor=actor)
        self._children: list[subprocess.Popen[bytes]] = []

    def performers(self) -> Performers:
        own: Performers = {
            effects.ObserveFleet: self.observe,
            effects.SpawnWorker: self.spawn,
            effects.RevokeLease: self.revoke,
            effects.MintRun: self.mint,
            effects.Pause: self.pause,
        }
        return {**super().performers(), **self.patience.over(own)}

    def observe(self, effect: effects.ObserveFleet) -> Fleet:
        state, _, live = fold.with_leases(self.store, folded.Fleet, keep=True)
        leases = {lease.lane: lease for lease in live}
        now_ms = self.store.now_ms()  # of the clock that wrote the times in the journal: this host's may be another
        units = backlog.read_units(self.place, self.config)
        state = self._on_target.known(state, units, self.target())
        offered = {
            name: len(backlog.survey(units, self.config, state, name, now_ms=now_ms).open)
            for name in self.config.roster()
        }
        # A lease on a lane that the roster does not have keeps its region as any other does.
        names = dict.fromkeys([*offered, *leases])
        lanes = [self._lane(name, offered.get(name, 0), state, leases.get(name), now_ms) for name in names]
        busy = any((lane.held and lane.ours) or lane.pending for lane in lanes)
        return Fleet(
            lanes=lanes,
            leases=leases,
            versions={name: starts.version for name, starts in state.starts.items()},
            drain_requested=state.drain > effect.lease.fence,
            busy=busy,
            idle=not busy and not any(lane.offerable and not lane.failed for lane in lanes),
        )

    def spawn(self, effect: effects.SpawnWorker) -> processes.Identity | None:
        """A worker is its own session: it outlives the supervisor, and Ctrl-C on the supervisor does not reach it."""
        words = [
            *(sys.executable, "-P", "-m", "dos", "worker", "--workspace", str(self.place.root)),
            # As one word each: a name may begin with a dash.
            *(f"--lane={effect.lane}", f"--run-id={effect.run_id}", f"--target-branch={self.target()}"),
        ]
        try:
            with logs.of_worker(self.place.state, effect.lane, effect.run_id).open("wb") as output:
                child = subprocess.Popen(
                    words,
                    cwd=self.place.root,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:  # no room for a log, or for a process: perhaps in a while
            sys.stderr.write(f"no worker could be started on {effect.lane}: {error}\n")
            return None
        self._children.append(child)
        return processes.identify(child.pid) or processes.Identity(child.pid, 0.0)

    def revoke(self, effect: effects.RevokeLease) -> bool:
        try:
            self.store.revoke(effect.lease.fence, version=effect.lease.version, reason=effect.reason)
        except Conflict:
            if not self._revoked(effect):
                return False
        leftovers.end(str(self.place.root), effect.lease)  # what its agent started has nobody else to end it
        return True

    def _revoked(self, effect: effects.RevokeLease) -> bool:
        """It was this supervisor that did it, and the answer was lost on its way."""
        stream = stream_of(effect.lease.lane, is_lock=effect.lease.is_lock)
        following = self.store.load(stream, after=effect.lease.version, limit=1)
        return any(event.kind == LeaseRevoked.kind and event.actor == self.store.actor for event in following)

    def mint(self, effect: effects.MintRun) -> str:
        now_ms = time.time_ns() // 1_000_000
        return run_ids.mint(now_ms, secrets.randbits(run_ids.ENTROPY_BITS), effect.process).run_id

    def pause(self, effect: effects.Pause) -> None:
        """Wait for the journal to move or for the time to pass; and take in the children that ended."""
        self.store.wait(self.store.last(), effect.seconds)
        self._children = [child for child in self._children if child.poll() is None]

    def _lane(self, name: str, offerable: int, state: folded.Fleet, lease: Lease | None, now_ms: int) -> Lane:
        starts = state.starts.get(name, folded.Starts())
        recent = [at for at in starts.unended.values() if now_ms - at < INTENSITY_SECONDS * 1000]
        return Lane(
            name=name,
            region=lease.region if lease else self.config.lane_region(name) or region([]),
            exclusive=self.config.is_exclusive(name) or (lease is not None and lease.exclusive),
            offerable=offerable,
            held=lease is not None,
            ours=lease is None or bool(lease.run_id),
            holder_gone=lease is not None and holders.gone(lease),
            pending=lease is None and _pending(starts, now_ms),
            failed=bool(starts.failed) or self._gave_up(name, state),
            resting=now_ms - starts.told_to_wait_ms < REST_SECONDS * 1000,
            recent_starts=len(recent),
        )

    def _gave_up(self, lane: str, state: folded.Fleet) -> bool:
        """Its last run stopped for a reason that only a person can clear."""
        runs = [run for run in state.runs.values() if run.lane == lane and run.begun_ms >= state.started_ms]
        return bool(runs) and max(runs, key=lambda run: run.begun_ms).needs in ("operator", "environment")


def _pending(starts: folded.Starts, now_ms: int) -> bool:
    if not starts.pending or now_ms - starts.at_ms > START_SECONDS * 1000:
        return False
    here = starts.host == processes.host()  # of a process elsewhere this host cannot say that it is gone
    return not (here and starts.pid and processes.is_gone(starts.pid, starts.pid_started))
