"""PID 1 of the fleet: look, plan, do, write down. Any tick may be the first one; a missed one changes nothing.

Like the worker it only yields effects. Workers outlive it: the next supervisor finds them by their leases.
"""

from collections.abc import Generator
from typing import Any

from msgspec import Struct

from dos.errors import Conflict, Fenced
from dos.journal import events
from dos.plans import staffing
from dos.records.leases import Lease, Refusal
from dos.runtime import effects

Steps = Generator[Any, Any, Any]


class Fleet(Struct, frozen=True, kw_only=True):
    """What a tick sees."""

    lanes: list[staffing.Lane]
    leases: dict[str, Lease]  # by lane
    versions: dict[str, int]  # of each lane's spawn stream
    drain_requested: bool
    busy: bool  # a worker of ours holds a lane, or is about to
    idle: bool  # nobody works and nothing is left to offer


class Supervisor:
    def __init__(self, *, host: str, pid: int, target: int, tick_seconds: float, until_idle: bool) -> None:
        self.host = host
        self.pid = pid
        self.target = target
        self.tick_seconds = tick_seconds
        self.until_idle = until_idle
        self.lease: Lease
        self._notes = 0

    def supervise(self) -> Generator[Any, Any, str]:
        """Runs until the fleet is drained; the answer says why it ended."""
        taken = yield effects.TakeLease(lane=f"supervisor/{self.host}", run_id="", is_lock=True)
        if isinstance(taken, Refusal):
            return f"another supervisor runs here: {taken.detail}"
        self.lease = taken
        try:
            started = events.FleetStarted(host=self.host, pid=self.pid, target=self.target)
            yield from self._note("fleet", started, fence=taken.fence)
            reason: str = yield from self._ticks()
            yield from self._note("fleet", events.FleetStopped(host=self.host, reason=reason), fence=taken.fence)
            yield effects.ReleaseLease(lease=taken, reason=reason)
        except Fenced as lost:
            return f"the supervisor lost its lease: {lost}"  # whoever takes it speaks for the fleet
        return reason

    def _ticks(self) -> Steps:
        while True:
            fleet: Fleet = yield effects.ObserveFleet(lease=self.lease)
            if fleet.drain_requested and not fleet.busy:
                return "drained on request"
            if self.until_idle and fleet.idle:
                return "nothing is left to do"
            for action in staffing.plan(fleet.lanes, 0 if fleet.drain_requested else self.target):
                yield from self._perform(action, fleet)
            yield effects.Pause(seconds=self.tick_seconds)

    def _perform(self, action: staffing.Action, fleet: Fleet) -> Steps:
        match action:
            case staffing.Spawn(lane=lane):
                yield from self._spawn(lane, fleet.versions.get(lane, 0))
            case staffing.Reap(lane=lane, reason=reason):
                lease = fleet.leases[lane]
                # Refused when the holder has moved since it was looked at: then it was not dead.
                if (yield effects.RevokeLease(lease=lease, reason=reason)):
                    fact = events.WorkerReaped(lane=lane, run_id=lease.run_id, lease=lease.fence, reason=reason)
                    yield from self._note(f"spawn/{lane}", fact)
            case staffing.GiveUp(lane=lane, reason=reason):
                yield from self._note(f"spawn/{lane}", events.LaneFailed(lane=lane, reason=reason))

    def _spawn(self, lane: str, version: int) -> Steps:
        run_id: str = yield effects.MintRun(process=f"worker-{lane}")
        intent = events.SpawnIntended(lane=lane, run_id=run_id, host=self.host)
        try:
            yield from self._note(f"spawn/{lane}", intent, expect=version)
        except Conflict:
            return  # another host's supervisor was quicker
        started = yield effects.SpawnWorker(lane=lane, run_id=run_id)
        if started is None:
            return  # it counts as one that died; when it does not show up, another is started
        fact = events.WorkerSpawned(
            lane=lane, run_id=run_id, host=self.host, pid=started.pid, pid_started=started.started
        )
        yield from self._note(f"spawn/{lane}", fact)

    def _note(self, stream: str, fact: events.Fact, *, fence: int | None = None, expect: int | None = None) -> Steps:
        self._notes += 1
        key = f"{fact.kind}/{self.lease.fence}.{self._notes}"
        yield effects.Record(stream=stream, fact=fact, key=key, fence=fence, expect=expect)
