"""One thread, one heap: what is due next, whose process it concerns, and what goes wrong on the way.

A process is the product's own generator of effects. Between any two of them it may die, sleep, or be told nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from random import Random
from typing import Any, Generic, TypeVar

from msgspec import Struct

from dos.errors import DosError, Fenced, Internal, StoreBusy, StoreUnreachable
from dos.fleet import effects
from dos.fleet.effect import Effect, Kind, Steps
from dos.fleet.io.drive import PAUSES
from dos.fleet.tick import ExpireQuestion, MintRun, RevokeLease, SpawnWorker
from dos.journal.store import Store
from dos.lease import Lease
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.clock import VirtualClock
from dos.testing.simulator.world.faults import FaultPlan

AWAY = (StoreUnreachable, StoreBusy)

# Written to a store across a network: the answer may be lost, or the request arrive twice.
SENT = (
    effects.TakeLease,
    effects.TakePlans,
    effects.ReleaseLease,
    effects.Record,
    effects.RecordAll,
    effects.ClaimUnit,
    RevokeLease,
    ExpireQuestion,
)
WRITES = (*SENT, effects.MoveBranch)  # what there is something to look at after
LATE = (effects.MoveBranch, RevokeLease)  # where sleeping between check and use is worst
REPEATED_LATE = (effects.Record, effects.RecordAll, effects.MoveBranch)
# Of the process's own host: nothing is asked of anybody else.
LOCAL = (effects.Pause, effects.BackOff, effects.RunAgent, MintRun, SpawnWorker)

E = TypeVar("E")
A = TypeVar("A")
Performer = Callable[["Process", Any], Any]
Performers = Mapping[Kind[Any, Any], Performer]


class Later(Struct, Generic[A], frozen=True):
    """The answer, once so many seconds are over."""

    seconds: float
    answer: A


class Suspended(Generic[A]):
    """The performer itself goes on with the process when the answer, an A, is there."""


SUSPENDED: Suspended[Any] = Suspended()


def simulated_by(
    kind: Kind[E, A], perform: Callable[["Process", E], A | Later[A] | Suspended[A]]
) -> tuple[Kind[Any, Any], Performer]:
    """A row of the table of performers, checked as those of `drive.performs` are: the answer may come later."""
    return kind, perform


class Host(Struct):
    name: str
    wrong_by_ms: int = 0  # its wall clock
    away_until: int = 0  # the store and the repository cannot be reached from it
    supervisor: "Process | None" = None
    version: int = 0  # of dos, as it is installed there now


class Process:
    """A process of the simulated system: dead for good once it has died."""

    __slots__ = (
        "agent",
        "alive",
        "away_since",
        "doubtful",
        "effect",
        "generator",
        "has_checked",
        "host",
        "is_supervisor",
        "lane",
        "launching",
        "paused_until",
        "performers",
        "pid",
        "renewers",
        "run_id",
        "started",
        "store",
        "tries",
    )  # fmt: skip

    def __init__(
        self, host: Host, pid: int, started: float, store: Store, lane: str, run_id: str
    ) -> None:
        self.host = host
        self.pid = pid
        self.started = started
        self.store = store
        self.lane = lane
        self.run_id = run_id
        self.is_supervisor = not run_id
        self.alive = True
        self.launching = True
        self.generator: Steps[Any]
        self.performers: Performers = {}
        self.effect: Effect[Any] = effects.Pause(seconds=0)  # until it asks for something
        self.renewers: dict[int, LeaseRenewer] = {}  # by fence
        self.agent: object | None = None
        self.paused_until = 0
        self.has_checked = False  # the lease was looked at, and then the process slept
        self.away_since: int | None = None
        self.tries = 0


class LeaseRenewer:
    """Renews one of a process's leases from a thread of its own: it dies with the process."""

    __slots__ = ("ends", "lease", "lost", "stopped")

    def __init__(self, lease: Lease, asked_at: int) -> None:
        self.lease = lease
        self.ends = asked_at + lease.ttl_ms
        self.lost = False
        self.stopped = False


class Scheduler:
    """The heap, the processes, and what happens to them."""

    def __init__(self, random: Random, swarm: FaultPlan, clock: VirtualClock) -> None:
        self.random = random
        self.swarm = swarm
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self.processes: dict[int, Process] = {}
        self.active = 0  # processes that live, and comings back that are due
        self.deaths = 0
        self.calm_at = faults.FAULT_MINUTES * 60_000
        self.ends_at = faults.END_MINUTES * 60_000
        self.on_write: Callable[[], None] = lambda: None  # at what was written
        self.on_end: Callable[[Process, Any], None] = lambda process, answer: None
        self.on_pause: Callable[[int], None] = lambda milliseconds: None
        self.effects = 0
        self.host_clock_decides = False  # a planted bug
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._number = 0

    @property
    def now(self) -> int:
        return self.clock.now_ms

    @property
    def is_calm(self) -> bool:
        return self.clock.now_ms >= self.calm_at

    def schedule(self, milliseconds: float, act: Callable[[Any], None], about: Any = None) -> None:
        self._number += 1
        heappush(self._heap, (self.clock.now_ms + int(milliseconds), self._number, act, about))

    def run(self) -> None:
        """Until nobody is left who could do anything, or the time is over."""
        heap, clock = self._heap, self.clock
        while heap and self.active:
            due, _, act, about = heappop(heap)
            if due > self.ends_at:
                return
            clock.now_ms = due
            act(about)

    # Processes

    def add(self, process: Process) -> None:
        self.processes[process.pid] = process
        self.active += 1

    def begin(self, process: Process) -> None:
        if process.alive:
            process.launching = False
            self.resume(process, None)

    def kill(self, process: Process) -> None:
        if process.alive:
            self._end(process)
            self.on_end(process, None)

    def resume(self, process: Process, answer: Any, failure: DosError | None = None) -> None:
        """Send the answer to the process, and put its next effect on the heap."""
        try:
            effect = process.generator.throw(failure) if failure else process.generator.send(answer)
        except StopIteration as done:
            self._end(process)
            self.on_end(process, done.value)
            return
        except DosError:  # it ends with a message, as the real one does
            self.kill(process)
            return
        process.effect, process.away_since, process.tries, process.has_checked = (
            effect,
            None,
            0,
            False,
        )
        self.schedule(self.random.random() * 80, self.perform, process)

    def perform(self, process: Process) -> None:
        """Do what the process wants done, unless something happens first."""
        if not process.alive:
            return
        if process.paused_until > self.clock.now_ms:
            self.schedule(process.paused_until - self.clock.now_ms, self.perform, process)
            return
        self.effects += 1
        effect = process.effect
        perform = process.performers.get(type(effect))
        if perform is None:
            raise Internal(f"the simulator cannot perform {type(effect).__name__}")
        fault = (
            "" if self.clock.now_ms >= self.calm_at or process.has_checked else self._fault(effect)
        )
        if fault and self._strikes(process, fault, effect):
            return
        if self.host_clock_decides:
            self.clock.wrong_by_ms = process.host.wrong_by_ms
        try:
            self._check_reachable(process, effect)
            self._check_leases(process)
            answer = perform(process, effect)
        except AWAY as error:
            self._retry(process, error)
            return
        except DosError as error:
            self.on_write()
            if isinstance(error, Fenced):
                self.counts[faults.LEASE_LOST] += 1
            self._deliver(process, fault, None, error)
            return
        finally:
            self.clock.wrong_by_ms = 0
        if isinstance(effect, WRITES):
            self.on_write()
        if fault in (faults.DUPLICATE, faults.LATE_DUPLICATE):
            self._repeat(process, fault, effect, perform)
        self._deliver(process, fault, answer, None)

    def _fault(self, effect: Effect[Any]) -> str:
        late = self.swarm.pause_share and isinstance(effect, LATE)
        return (
            faults.PAUSE
            if late and self.random.random() < self.swarm.pause_share
            else self.swarm.draw_step()
        )

    def _strikes(self, process: Process, fault: str, effect: Effect[Any]) -> bool:
        """Whether the effect is not performed now."""
        if fault == faults.CRASH_BEFORE:
            self.counts[fault] += 1
            self.kill(process)
            return True
        if fault == faults.PAUSE:
            try:
                self._check_reachable(process, effect)
                self._check_leases(process)
            except DosError:
                return False
            self.counts[fault] += 1
            process.has_checked = True
            shortest = 100_000 if isinstance(effect, LATE) else 30_000
            length = self.random.randint(shortest, 120_000)
            process.paused_until = self.clock.now_ms + length
            self.schedule(length, self.perform, process)
            self.on_pause(length)
            return True
        return False

    def _deliver(self, process: Process, fault: str, answer: Any, failure: DosError | None) -> None:
        if not process.alive:  # ended by what it did itself
            return
        if fault == faults.CRASH_AFTER:
            self.counts[fault] += 1
            self.kill(process)
        elif fault == faults.LOST_ANSWER and isinstance(process.effect, SENT):
            self.counts[fault] += 1
            self._retry(process, StoreUnreachable("the answer was lost on its way"))
        elif isinstance(answer, Later):
            self.schedule(answer.seconds * 1000, self._wake, (process, answer.answer))
        elif answer is not SUSPENDED:
            self.resume(process, answer, failure)

    def _wake(self, slept: tuple[Process, Any]) -> None:
        process, answer = slept
        if process.alive:
            self.resume(process, answer)

    def _repeat(
        self, process: Process, fault: str, effect: Effect[Any], perform: Performer
    ) -> None:
        """The same request arrives once more, and nobody waits for its answer."""

        def arrive(_: object) -> None:
            try:
                perform(process, effect)
            except DosError:
                pass  # whoever sent it has its answer
            self.on_write()

        if fault == faults.DUPLICATE and isinstance(effect, (*SENT, effects.MoveBranch)):
            self.counts[fault] += 1
            arrive(None)
        elif fault == faults.LATE_DUPLICATE and isinstance(effect, REPEATED_LATE):
            self.counts[fault] += 1
            self.schedule(self.random.randint(1_000, 90_000), arrive)

    # A store that is away, a lease that may be lost

    def _check_reachable(self, process: Process, effect: Effect[Any]) -> None:
        if process.host.away_until > self.clock.now_ms and not isinstance(effect, LOCAL):
            raise StoreUnreachable(f"host {process.host.name} is cut off")

    def _check_leases(self, process: Process) -> None:
        """Raise unless the lease is surely the process's own. Who slept after looking does not look again."""
        if process.has_checked:
            return
        for keeper in process.renewers.values():
            if keeper.lost:
                raise Fenced(
                    f"the lease with fence {keeper.lease.fence} was taken over, or not renewed in its time"
                )
            if process.away_since is not None or self.clock.now_ms >= keeper.ends:
                self._renew(process, keeper)

    def _retry(self, process: Process, error: DosError) -> None:
        now, ttl = self.clock.now_ms, self.give_up_ms
        if process.away_since is None:
            process.away_since = now
        if now - process.away_since >= ttl and not process.is_supervisor:
            self.resume(process, None, error)
            return
        process.tries += 1
        pause = int(PAUSES.delay(process.tries) * 1000)
        process.has_checked = False
        back = process.host.away_until
        if not process.is_supervisor:
            back = min(back, process.away_since + ttl)
        self.schedule(max(pause, back - now), self.perform, process)

    give_up_ms = 120_000

    def has_lost_lease(self, process: Process) -> bool:
        return any(keeper.lost for keeper in process.renewers.values())

    def keep_renewed(self, process: Process, lease: Lease, asked_at: int) -> None:
        if lease.fence not in process.renewers:
            keeper = process.renewers[lease.fence] = LeaseRenewer(lease, asked_at)
            self.schedule(lease.ttl_ms / 4, self._renew_in_background, (process, keeper))

    def stop_renewing(self, process: Process, fence: int) -> None:
        if keeper := process.renewers.pop(fence, None):
            keeper.stopped = True

    def _renew_in_background(self, kept: tuple[Process, LeaseRenewer]) -> None:
        process, keeper = kept
        if not process.alive or keeper.stopped or keeper.lost:
            return
        now = self.clock.now_ms
        if process.paused_until > now:
            self.schedule(process.paused_until - now, self._renew_in_background, kept)
            return
        try:
            self._renew(process, keeper)
        except Fenced:
            self.on_lease_lost(process)
        except StoreUnreachable:
            if (
                process.is_supervisor
            ):  # which does nothing meanwhile, and waits for as long as it takes
                self.schedule(
                    max(1, process.host.away_until - now), self._renew_in_background, kept
                )
            elif now >= keeper.ends:
                keeper.lost = True
                self.on_lease_lost(process)
            else:
                self.schedule(
                    max(1, min(process.host.away_until, keeper.ends) - now),
                    self._renew_in_background,
                    kept,
                )
        else:
            self.schedule(keeper.lease.ttl_ms / 4, self._renew_in_background, kept)

    def on_lease_lost(self, process: Process) -> None:
        """What it started may not go on without a lease."""

    def _renew(self, process: Process, keeper: LeaseRenewer) -> None:
        now = self.clock.now_ms
        if process.host.away_until > now:
            raise StoreUnreachable(f"host {process.host.name} is cut off")
        lost = process.store.renew([keeper.lease.fence]).lost
        self.on_write()
        if lost:
            keeper.lost = True
            self.counts[faults.LEASE_LOST] += 1
            raise Fenced(f"the lease with fence {keeper.lease.fence} was taken over")
        keeper.ends = max(keeper.ends, now + keeper.lease.ttl_ms)

    def _end(self, process: Process) -> None:
        process.alive = False
        process.agent = None
        process.renewers.clear()
        self.active -= 1
        self.deaths += 1
