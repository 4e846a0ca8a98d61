"""The scheduler of a simulation: one thread and one heap of what is due next.

A process is the product's own generator of effects. Between any two effects it may die, sleep, or
never get its answer. Faults strike until `calm_at`; then the fleet has until `ends_at` to finish.
All random numbers come from the seed and all that is walked is ordered, so that a seed always means
the same simulation.
"""

from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

from dos.errors import DosError, Fenced, GitUnanswered, Internal, StoreBusy, StoreUnreachable
from dos.fleet.effect import Effect
from dos.fleet.io.drive import PAUSES
from dos.lease import Lease
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.faults import FaultPlan
from dos.testing.simulator.world.process import (
    SUSPENDED,
    A,
    KilledInEffect,
    Later,
    LeaseRenewer,
    Performer,
    Process,
    Suspended,
    VirtualClock,
)

AWAY = (StoreUnreachable, StoreBusy, GitUnanswered)
LOOK_MS = 10_000  # between two looks of a waiting process


class Scheduler:
    """Runs the processes and applies the faults of the seed to them.

    `on_write` is called after everything that may have changed the store or the repository,
    `on_end` when a process has ended, and `on_pause` when one begins to sleep.
    """

    def __init__(self, random: Random, fault_plan: FaultPlan, clock: VirtualClock) -> None:
        self.random = random
        self.fault_plan = fault_plan
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self.processes: dict[int, Process] = {}
        self.active = 0  # live processes, and restarts that are due
        self.deaths = 0
        self.calm_at = faults.FAULT_MINUTES * 60_000
        self.ends_at = faults.END_MINUTES * 60_000
        self.on_write: Callable[[], None] = lambda: None
        self.on_end: Callable[[Process, Any], None] = lambda _process, _answer: None
        self.on_pause: Callable[[int], None] = lambda _milliseconds: None
        self.effects = 0
        self.host_clock_decides = False  # set only by a planted bug
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._number = 0

    @property
    def now(self) -> int:
        """Milliseconds since the simulation began."""
        return self.clock.now_ms

    @property
    def is_calm(self) -> bool:
        """Whether the time of faults is over."""
        return self.clock.now_ms >= self.calm_at

    def schedule(self, milliseconds: float, act: Callable[[Any], None], about: Any = None) -> None:
        """Call `act(about)` after this time; entries due at the same time keep their order."""
        self._number += 1
        heappush(self._heap, (self.clock.now_ms + int(milliseconds), self._number, act, about))

    def run(self) -> None:
        """Take entries from the heap until no process is left or the time is over."""
        while self._heap and self.active:
            due, _, act, about = heappop(self._heap)
            if due > self.ends_at:
                return
            self.clock.now_ms = due
            act(about)

    # Processes

    def add(self, process: Process) -> None:
        """Count the process as active; it does nothing until `begin`."""
        self.processes[process.pid] = process
        self.active += 1

    def begin(self, process: Process) -> None:
        """Run the process to its first effect, unless it was killed while it was starting."""
        if process.alive:
            process.launching = False
            self.resume(process, None)

    def kill(self, process: Process) -> None:
        """End the process without an answer, as SIGKILL does; a dead one stays as it is."""
        if process.alive:
            self._end(process)
            self.on_end(process, None)

    def resume(self, process: Process, answer: Any, failure: DosError | None = None) -> None:
        """Send the answer or the failure to the process, and schedule its next effect."""
        try:
            if failure:
                effect = process.generator.throw(failure)
            else:
                effect = process.generator.send(answer)
        except StopIteration as done:
            self._end(process)
            self.on_end(process, done.value)
            return
        except DosError:  # it ends with an error, as a real process does
            self.kill(process)
            return
        process.effect = effect
        process.away_since = None
        process.tries = 0
        process.has_checked = False
        self.schedule(self.random.random() * 80, self.perform, process)

    def perform(self, process: Process) -> None:
        """Perform the effect that the process waits for, unless a fault strikes first."""
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
        fault = ""
        if not self.is_calm and not process.has_checked:
            fault = self._fault(effect)
        if fault and self._strikes(process, fault, effect):
            return
        self._perform(process, effect, perform, fault)

    def _perform(
        self, process: Process, effect: Effect[Any], perform: Performer, fault: str
    ) -> None:
        """Perform the effect and deliver its answer or its error to the process."""
        if self.host_clock_decides:
            self.clock.wrong_by_ms = process.host.wrong_by_ms
        try:
            self._check_reachable(process, effect)
            self._check_leases(process)
            answer = perform(process, effect)
        except AWAY as error:
            self._retry(process, error)
            return
        except KilledInEffect:
            self.kill(process)
            return
        except DosError as error:
            self.on_write()
            if isinstance(error, Fenced):
                self.counts[faults.LEASE_LOST] += 1
            self._deliver(process, fault, None, error)
            return
        finally:
            self.clock.wrong_by_ms = 0
        if isinstance(effect, faults.WRITES):
            self.on_write()
        if fault in (faults.DUPLICATE, faults.LATE_DUPLICATE):
            self._repeat(process, fault, effect, perform)
        self._deliver(process, fault, answer, None)

    def _fault(self, effect: Effect[Any]) -> str:
        """Draw the fault at this effect; "" for none.

        Where a pause between check and use is worst, it is drawn more often.
        """
        share = self.fault_plan.pause_share
        if share and isinstance(effect, faults.LATE) and self.random.random() < share:
            return faults.PAUSE
        return self.fault_plan.draw_step()

    def _strikes(self, process: Process, fault: str, effect: Effect[Any]) -> bool:
        """Apply a fault that comes before the effect; True if the effect is not performed now."""
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
            shortest = 100_000 if isinstance(effect, faults.LATE) else 30_000
            length = self.random.randint(shortest, 120_000)
            process.paused_until = self.clock.now_ms + length
            self.schedule(length, self.perform, process)
            self.on_pause(length)
            return True
        return False

    def _deliver(self, process: Process, fault: str, answer: Any, failure: DosError | None) -> None:
        """Resume the process with its answer, unless a fault after the effect prevents it."""
        if not process.alive:  # it ended by its own effect
            return
        if fault == faults.CRASH_AFTER:
            self.counts[fault] += 1
            self.kill(process)
        elif fault == faults.LOST_ANSWER and isinstance(process.effect, faults.SENT):
            self.counts[fault] += 1
            self._retry(process, StoreUnreachable("the answer was lost on its way"))
        elif isinstance(answer, Later):
            self.schedule(answer.seconds * 1000, self._wake, (process, answer.answer))
        elif answer is not SUSPENDED:
            self.resume(process, answer, failure)

    def _wake(self, slept: tuple[Process, Any]) -> None:
        """Resume a process whose answer took time, unless it died meanwhile."""
        process, answer = slept
        if process.alive:
            self.resume(process, answer)

    def _repeat(
        self, process: Process, fault: str, effect: Effect[Any], perform: Performer
    ) -> None:
        """Let the same request arrive once more, at once or late; its answer is dropped."""

        def arrive(_: object) -> None:
            try:
                perform(process, effect)
            except (DosError, KilledInEffect):
                pass  # the process already has its answer
            self.on_write()

        if fault == faults.DUPLICATE and isinstance(effect, faults.WRITES):
            self.counts[fault] += 1
            arrive(None)
        elif fault == faults.LATE_DUPLICATE and isinstance(effect, faults.REPEATED_LATE):
            self.counts[fault] += 1
            self.schedule(self.random.randint(1_000, 90_000), arrive)

    # Waiting

    def wait(
        self,
        process: Process,
        deadline: float,
        is_over: Callable[[], bool],
        answer: Callable[[], A],
    ) -> Suspended[A]:
        """Resume the process with the answer once `is_over`, at the deadline or without a lease."""
        self._poll(process, deadline, is_over, answer)
        return SUSPENDED

    def _poll(
        self,
        process: Process,
        deadline: float,
        is_over: Callable[[], bool],
        answer: Callable[[], object],
    ) -> None:
        """Look whether the wait is over, and look again after a while if it is not.

        A process that sleeps looks when it wakes.
        """
        left = deadline - self.now
        over = left <= 0 or self.has_lost_lease(process) or is_over()
        if not process.alive:
            return
        if process.paused_until > self.now:
            left = process.paused_until - self.now
        elif over:
            self.schedule(0, self._resume_waiting, (process, answer))
            return
        self.schedule(min(left, LOOK_MS), lambda _: self._poll(process, deadline, is_over, answer))

    def _resume_waiting(self, waiting: tuple[Process, Callable[[], object]]) -> None:
        """Resume a process that has waited, with the answer as it is now."""
        process, answer = waiting
        if process.alive:
            self.resume(process, answer())

    # A store that is away, a lease that may be lost

    def _check_reachable(self, process: Process, effect: Effect[Any]) -> None:
        """Raise StoreUnreachable if the host is cut off and the effect needs the network."""
        if process.host.away_until > self.clock.now_ms and not isinstance(effect, faults.LOCAL):
            raise StoreUnreachable(f"host {process.host.name} is cut off")

    def _check_leases(self, process: Process) -> None:
        """Raise Fenced unless the process holds its leases.

        A process that slept after this check does not check again: that is the fault.
        """
        if process.has_checked:
            return
        for renewer in process.renewers.values():
            if renewer.lost:
                raise Fenced(
                    f"the lease with fence {renewer.lease.fence} was taken over or has expired"
                )
            if process.away_since is not None or self.clock.now_ms >= renewer.ends:
                self._renew(process, renewer)

    def _retry(self, process: Process, error: DosError) -> None:
        """Schedule the effect again, as the product does while the store is away."""
        now = self.clock.now_ms
        ttl = self.give_up_ms
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
        """Whether one of the process's leases was taken over or has expired."""
        return any(renewer.lost for renewer in process.renewers.values())

    def keep_renewed(self, process: Process, lease: Lease, asked_at: int) -> None:
        """Renew the lease in the background, at a quarter of its time to live."""
        if lease.fence not in process.renewers:
            renewer = process.renewers[lease.fence] = LeaseRenewer(lease, asked_at)
            self.schedule(lease.ttl_ms / 4, self._renew_in_background, (process, renewer))

    def stop_renewing(self, process: Process, fence: int) -> None:
        """Stop renewing the lease with this fence."""
        if renewer := process.renewers.pop(fence, None):
            renewer.stopped = True

    def _renew_in_background(self, kept: tuple[Process, LeaseRenewer]) -> None:
        """Renew the lease and schedule the next renewal.

        Without the store a worker gives the lease up when its time is over; a supervisor, which
        does nothing meanwhile, waits as long as it takes.
        """
        process, renewer = kept
        if not process.alive or renewer.stopped or renewer.lost:
            return
        now = self.clock.now_ms
        if process.paused_until > now:
            self.schedule(process.paused_until - now, self._renew_in_background, kept)
            return
        try:
            self._renew(process, renewer)
        except Fenced:
            self.on_lease_lost(process)
        except StoreUnreachable:
            if process.is_supervisor:  # it does nothing meanwhile and waits as long as it takes
                self.schedule(
                    max(1, process.host.away_until - now), self._renew_in_background, kept
                )
            elif now >= renewer.ends:
                renewer.lost = True
                self.on_lease_lost(process)
            else:
                self.schedule(
                    max(1, min(process.host.away_until, renewer.ends) - now),
                    self._renew_in_background,
                    kept,
                )
        else:
            self.schedule(renewer.lease.ttl_ms / 4, self._renew_in_background, kept)

    def on_lease_lost(self, process: Process) -> None:
        """Called when a process has lost a lease; its agent has to end."""

    def _renew(self, process: Process, renewer: LeaseRenewer) -> None:
        """Renew the lease; raises Fenced if it is lost, StoreUnreachable if the host is cut off."""
        now = self.clock.now_ms
        if process.host.away_until > now:
            raise StoreUnreachable(f"host {process.host.name} is cut off")
        lost = process.store.renew([renewer.lease.fence]).lost
        self.on_write()
        if lost:
            renewer.lost = True
            self.counts[faults.LEASE_LOST] += 1
            raise Fenced(f"the lease with fence {renewer.lease.fence} was taken over")
        renewer.ends = max(renewer.ends, now + renewer.lease.ttl_ms)

    def _end(self, process: Process) -> None:
        """Mark the process as dead; its renewers stop with it."""
        process.alive = False
        process.agent = None
        process.renewers.clear()
        self.active -= 1
        self.deaths += 1
