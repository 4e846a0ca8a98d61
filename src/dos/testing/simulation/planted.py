"""Bugs to be planted on purpose, each a small change of one effect: a simulator that misses them finds nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from msgspec import structs

from dos.journal import store
from dos.journal.events import Event, LandingIntended
from dos.journal.states.spend import Spend
from dos.plans.limits.budget import Spent
from dos.records.leases import Lease
from dos.runtime import effects
from dos.testing.simulation.machine import Host, Later, Process
from dos.testing.simulation.repository import TARGET, Tree

if TYPE_CHECKING:
    from dos.testing.simulation.seeds import Simulation

SPIN_MS = 60_000
Patches = ExitStack


def fence_not_checked(simulation: "Simulation", patches: Patches) -> None:
    """A fence is written beside what it should guard, and nobody looks at it."""

    def append(self: store.Store, tx: store.Writing, entry: store.Entry, raw: bytes) -> Event:
        if entry.fence is None or tx.lease(entry.fence) or (entry.key and tx.keyed(entry.stream, entry.key)):
            return original(self, tx, entry, raw)
        return tx.insert(entry, tx.head(entry.stream) + 1, self.actor, raw)

    original = store.Store._append
    patches.enter_context(patch.object(store.Store, "_append", append))


def branch_without_fence(simulation: "Simulation", patches: Patches) -> None:
    """The branch moves by compare-and-swap, and git is not asked whose fence is the newest."""
    move = simulation.site.repository.move

    def moved(lane: str, fence: int, landing: effects.Landing) -> effects.NotLanded | None:
        return move(lane, fence, landing, fence_counts=False)

    simulation.site.repository.move = moved  # type: ignore[method-assign, assignment]


def resume_without_git(simulation: "Simulation", patches: Patches) -> None:
    """Whoever goes on after a crash does not ask git how far the landing came."""
    simulation.workers.has_landed = lambda process, effect: False  # type: ignore[method-assign]
    simulation.workers.as_git_shows = lambda fleet: fleet  # type: ignore[method-assign]


def claim_believed(simulation: "Simulation", patches: Patches) -> None:
    """What an agent says counts as done."""
    workers, repository = simulation.workers, simulation.site.repository
    measure, prepare, move = workers.measure, workers.prepare_landing, workers.move_branch

    def measured(process: Process, effect: effects.MeasureWork) -> Later:
        found = measure(process, effect)
        seen: effects.Measured = found.answer
        if seen.commits or not simulation.site.fleet.units[effect.unit.name].claim:
            return found
        return Later(found.seconds, structs.replace(seen, commits=["claimed"], changed_paths=1, accepted=True))

    def prepared(process: Process, effect: effects.PrepareLanding) -> Any:
        if effect.head != effect.worktree.base:
            return prepare(process, effect)
        return effects.Landing(unit=effect.unit.name, branch=TARGET, old=repository.target, new=effect.head)

    def moved(process: Process, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return move(process, effect) if effect.landing.new != effect.landing.old else None

    workers.measure = measured  # type: ignore[method-assign]
    workers.prepare_landing = prepared  # type: ignore[method-assign]
    workers.move_branch = moved  # type: ignore[method-assign]


def reap_reads_again(simulation: "Simulation", patches: Patches) -> None:
    """Whoever reaps a lane takes its lease as it is by then, not the one that was judged."""
    fleets, site = simulation.fleets, simulation.site
    revoke = fleets.revoke

    def revoked(process: Process, effect: effects.RevokeLease) -> bool:
        now = [lease for lease in site.reader.leases() if lease.lane == effect.lease.lane]
        return revoke(process, structs.replace(effect, lease=now[0]) if now else effect)

    fleets.revoke = revoked  # type: ignore[method-assign]


def reap_by_fence_alone(simulation: "Simulation", patches: Patches) -> None:
    """A lease that was judged dead is revoked although it was renewed since."""

    def unchanged(tx: store.Reading, fence: int, version: int) -> Lease:
        lease = tx.lease(fence)
        return original(tx, fence, lease.version if lease else version)

    original = store._unchanged
    patches.enter_context(patch.object(store, "_unchanged", unchanged))


def no_key(simulation: "Simulation", patches: Patches) -> None:
    """What is sent again is written again."""
    workers = simulation.workers
    record = workers.record

    def recorded(process: Process, effect: effects.Record) -> Any:
        return record(process, structs.replace(effect, key=None))

    workers.record = recorded  # type: ignore[method-assign]


def host_clock(simulation: "Simulation", patches: Patches) -> None:
    """Whether a lease has run out is decided by the clock of the host that asks."""
    simulation.site.machine.host_clock_decides = True


def no_pending(simulation: "Simulation", patches: Patches) -> None:
    """A lane is started again at once, although its worker may be on its way."""
    simulation.fleets.lane = lambda seen: structs.replace(seen, pending=False, resting=False)  # type: ignore[method-assign]


def no_intensity(simulation: "Simulation", patches: Patches) -> None:
    """A lane whose workers keep dying is started for ever."""
    simulation.fleets.lane = lambda seen: structs.replace(seen, recent_starts=0, resting=False)  # type: ignore[method-assign]


def spinning_is_dead(simulation: "Simulation", patches: Patches) -> None:
    """A worker that lands nothing for a while is taken for dead."""
    fleets, site = simulation.fleets, simulation.site
    gone = fleets.gone

    def holder_gone(lease: Lease, host: Host) -> bool:
        run = site.fleet.runs.get(lease.run_id)
        spins = run is not None and not run.landed and site.machine.clock.wall_ms() - run.begun_ms > SPIN_MS
        return spins or gone(lease, host)

    fleets.gone = holder_gone  # type: ignore[method-assign]


def landing_without_intent(simulation: "Simulation", patches: Patches) -> None:
    """The branch moves before it is written down that it will."""
    workers = simulation.workers
    record = workers.record

    def recorded(process: Process, effect: effects.Record) -> Any:
        if isinstance(effect.fact, LandingIntended):
            return None
        return record(process, effect)

    workers.record = recorded  # type: ignore[method-assign]


def cleared_unsaved(simulation: "Simulation", patches: Patches) -> None:
    """A worktree is made clean without saving what an earlier run left in it."""
    repository = simulation.site.repository

    def prepare(tree: Tree, run_id: str) -> list[effects.Salvage]:
        tree.base = tree.head = repository.target
        tree.dirty = []
        return []

    repository.prepare = prepare  # type: ignore[method-assign]


def answered_again(simulation: "Simulation", patches: Patches) -> None:
    """An answer does not look whether the question is still open."""
    original = store.Store.append_all

    def append_all(self: store.Store, entries: Sequence[store.Entry]) -> list[Event]:
        answers = [each for each in entries if each.stream.startswith("decision/")]
        return original(self, [structs.replace(each, expect=None) if each in answers else each for each in entries])

    patches.enter_context(patch.object(store.Store, "append_all", append_all))


def promises_ignored(simulation: "Simulation", patches: Patches) -> None:
    """What is left of a shared budget is given to everybody who asks."""

    def promised(self: Spend, scope: str, subject: str, *, besides: str, now_ms: int) -> Spent:
        return Spent()

    patches.enter_context(patch.object(Spend, "promised", promised))


PLANTED: dict[str, Callable[["Simulation", Patches], None]] = {
    "fence-not-checked": fence_not_checked,
    "branch-without-fence": branch_without_fence,
    "resume-without-git": resume_without_git,
    "claim-believed": claim_believed,
    "reap-reads-again": reap_reads_again,
    "reap-by-fence-alone": reap_by_fence_alone,
    "no-key": no_key,
    "host-clock": host_clock,
    "no-pending": no_pending,
    "no-intensity": no_intensity,
    "spinning-is-dead": spinning_is_dead,
    "landing-without-intent": landing_without_intent,
    "cleared-unsaved": cleared_unsaved,
    "answered-again": answered_again,
    "promises-ignored": promises_ignored,
}


@contextmanager
def switched_on(name: str, simulation: "Simulation") -> Iterator[None]:
    with ExitStack() as patches:
        if name:
            PLANTED[name](simulation, patches)
        yield
