"""Planted bugs of workers and of the store that they write to.

Each function changes one effect, one method of the store or one input of a decision, for one
simulation. Its docstring says what the broken product does; the table names the invariant that has
to notice it.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from msgspec import structs

from dos.fleet import effects
from dos.fleet.population import placement
from dos.fleet.worker import worker
from dos.journal import backend, prune, store, streams
from dos.journal.backends.memory import Rows
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import IterationCommitted, LandingIntended, RunStopped, UnitLanded
from dos.journal.events.limits import AgentWentOn
from dos.landing.lane.repository import LaneRepository
from dos.lanes import admission
from dos.lease import Lease, Refusal, RefusalReason, Request
from dos.limits.accounts import Account, Day
from dos.limits.budget import Spent
from dos.limits.state.spend import FleetSpend
from dos.loop import decide
from dos.loop.types import IterationOutcome, LoopDecision, LoopState, OutcomeKind
from dos.regions import Region
from dos.testing.simulator.world.process import SUSPENDED, Later, Process, Suspended
from dos.testing.simulator.world.repository import TARGET
from dos.units.unit import Landing

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation


def branch_without_fence(simulation: "Simulation", _patches: ExitStack) -> None:
    """The branch moves by compare-and-swap, and git is not asked whose fence is the newest."""
    move = simulation.site.repository.move

    def moved(lane: str, fence: int, landing: Landing) -> effects.NotLanded | None:
        return move(lane, fence, landing, fence_counts=False)

    simulation.site.repository.move = moved  # type: ignore[method-assign, assignment]


def resume_without_git(simulation: "Simulation", _patches: ExitStack) -> None:
    """A worker that resumes after a crash takes a landing for done without asking git."""
    simulation.workers.has_landed = lambda _process, _effect: True  # type: ignore[method-assign, assignment]


def claim_believed(simulation: "Simulation", _patches: ExitStack) -> None:
    """An agent's claim counts as its work: it is measured, accepted and landed without a commit."""
    workers, repository = simulation.workers, simulation.site.repository
    measure, prepare, move = workers.measure, workers.prepare_landing, workers.move_branch

    def measured(process: Process, effect: effects.MeasureWork) -> Later[effects.Measurement]:
        found = measure(process, effect)
        seen = found.answer
        if seen.commits or not simulation.site.fleet.units[effect.unit.name].claim:
            return found
        return Later(
            found.seconds,
            structs.replace(seen, commits=["claimed"], changed_paths=1, accepted=True),
        )

    def prepared(
        process: Process, effect: effects.PrepareLanding
    ) -> Later[Landing | effects.NotLanded] | effects.NotLanded:
        if effect.head != effect.worktree.base:
            return prepare(process, effect)
        ready = Landing(
            unit=effect.unit.name, branch=TARGET, base=repository.target, commit=effect.head
        )
        return Later(0, ready)

    def moved(process: Process, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return move(process, effect) if effect.landing.commit != effect.landing.base else None

    workers.measure = measured  # type: ignore[method-assign]
    workers.prepare_landing = prepared  # type: ignore[method-assign]
    workers.move_branch = moved  # type: ignore[method-assign]


def no_key(simulation: "Simulation", _patches: ExitStack) -> None:
    """The outcome of a unit is recorded again when the request is delivered again."""
    workers = simulation.workers
    record = workers.record

    def recorded(process: Process, effect: effects.Record) -> Any:
        became = isinstance(effect.fact, IterationCommitted | UnitLanded)
        return record(process, structs.replace(effect, key=None) if became else effect)

    workers.record = recorded  # type: ignore[method-assign]


def landing_without_intent(simulation: "Simulation", _patches: ExitStack) -> None:
    """The branch moves without the intent being recorded first."""
    workers = simulation.workers
    record = workers.record

    def recorded(process: Process, effect: effects.Record) -> Any:
        if isinstance(effect.fact, LandingIntended):
            return None
        return record(process, effect)

    workers.record = recorded  # type: ignore[method-assign]


def cleared_unsaved(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane is made clean without saving what an earlier run left in it."""
    patches.enter_context(patch.object(LaneRepository, "_save_earlier", lambda *_args: []))


def promises_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """The rest of a shared budget is given to every worker that asks, several times over."""

    def promised(self: FleetSpend, account: Account, *, besides: str, now_ms: int) -> Spent:  # noqa: ARG001
        return Spent()

    patches.enter_context(patch.object(FleetSpend, "promised", promised))


def money_forgotten(_simulation: "Simulation", patches: ExitStack) -> None:
    """The money that a run or a lane has spent is ignored."""
    spent = FleetSpend.spent

    def unseen(self: FleetSpend, account: Account) -> Spent:
        return spent(self, account) if isinstance(account, Day) else Spent()

    patches.enter_context(patch.object(FleetSpend, "spent", unseen))


def word_after_the_last(simulation: "Simulation", _patches: ExitStack) -> None:
    """A run records one more event after it has recorded why it stops."""
    workers = simulation.workers
    release = workers.release_lease

    def released(process: Process, effect: effects.ReleaseLease) -> None:
        lease = effect.lease
        if not lease.is_lock and lease.run_id in simulation.checker.stopped:
            fact = AgentWentOn(run_id=lease.run_id, lane=lease.lane, unit="")
            process.store.record(streams.run(lease.run_id), fact, fence=lease.fence)
        release(process, effect)

    workers.release_lease = released  # type: ignore[method-assign]


def untyped_stop(simulation: "Simulation", _patches: ExitStack) -> None:
    """A run stops for a reason that is in no table."""
    workers = simulation.workers
    record = workers.record

    def recorded(process: Process, effect: effects.Record) -> Any:
        if isinstance(effect.fact, RunStopped):
            effect = structs.replace(
                effect, fact=structs.replace(effect.fact, stop_reason="enough")
            )
        return record(process, effect)

    workers.record = recorded  # type: ignore[method-assign]


def open_question_passed(simulation: "Simulation", _patches: ExitStack) -> None:
    """A worker does not look whether its host's tests fail without any work."""
    simulation.workers.blocking_question = lambda _host: ""  # type: ignore[method-assign, assignment]


def turn_taken(simulation: "Simulation", _patches: ExitStack) -> None:
    """A worker lands without waiting for those whose work was proven earlier."""
    simulation.workers.await_turn = lambda _process, _effect: 0  # type: ignore[method-assign, assignment, return-value]


def deaf(simulation: "Simulation", _patches: ExitStack) -> None:
    """A parked worker is woken neither by an event nor by the time."""

    def park(_process: Process, _effect: effects.Park) -> Suspended[float]:
        return SUSPENDED

    simulation.workers.park = park  # type: ignore[method-assign, assignment]


def another_version_ignored(simulation: "Simulation", _patches: ExitStack) -> None:
    """A worker continues although another version was started on its host."""
    survey = simulation.workers.survey

    def surveyed(process: Process, effect: effects.SurveyBacklog) -> effects.Backlog:
        return structs.replace(survey(process, effect), superseded_by="")

    simulation.workers.survey = surveyed  # type: ignore[method-assign]


def decided_by_another_state(_simulation: "Simulation", patches: ExitStack) -> None:
    """The loop decides by a state that differs from the recorded one."""

    def decide_otherwise(state: LoopState, outcome: IterationOutcome) -> LoopDecision:
        return decide.decide(structs.replace(state, iteration=state.iteration + 1), outcome)

    patches.enter_context(patch.object(worker, "decide", _Loop(decide_otherwise)))


def limit_is_a_failure(_simulation: "Simulation", patches: ExitStack) -> None:
    """A provider's limit is counted as a failure of the agent."""

    def decide_otherwise(state: LoopState, outcome: IterationOutcome) -> LoopDecision:
        decision = decide.decide(state, outcome)
        if outcome.kind is not OutcomeKind.RATE_LIMITED:
            return decision
        after = decision.next_state
        return structs.replace(
            decision,
            next_state=structs.replace(after, consecutive_unclear=after.consecutive_unclear + 1),
        )

    patches.enter_context(patch.object(worker, "decide", _Loop(decide_otherwise)))


class _Loop:
    """Stands in for the module of decisions, with one function replaced."""

    needs = staticmethod(decide.needs)

    def __init__(self, decide_otherwise: Any) -> None:
        self.decide = decide_otherwise


GAP_AT = 5  # the version that is left out


def fence_not_checked(_simulation: "Simulation", patches: ExitStack) -> None:
    """A fence is recorded with its event, and the store does not check it."""

    def append(
        self: store.Store, tx: backend.WriteTransaction, entry: backend.Entry, raw: bytes
    ) -> Event:
        if (
            entry.fence is None
            or tx.lease(entry.fence)
            or (entry.key and tx.keyed(entry.stream, entry.key))
        ):
            return original(self, tx, entry, raw)
        return tx.insert(entry, tx.head(entry.stream) + 1, self.actor, raw)

    original = store.Store._append
    patches.enter_context(patch.object(store.Store, "_append", append))


def reap_by_fence_alone(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lease that was judged dead is revoked although it was renewed since."""

    def unchanged(tx: backend.ReadTransaction, fence: int, version: int) -> Lease:
        lease = tx.lease(fence)
        return original(tx, fence, lease.version if lease else version)

    original = store._unchanged
    patches.enter_context(patch.object(store, "_unchanged", unchanged))


def host_clock(simulation: "Simulation", _patches: ExitStack) -> None:
    """Whether a lease has expired is decided by the clock of the host that asks."""
    simulation.site.scheduler.host_clock_decides = True


def answered_again(_simulation: "Simulation", patches: ExitStack) -> None:
    """An answer is recorded although the question was answered already."""
    original = store.Store.append_all

    def append_all(self: store.Store, entries: Sequence[backend.Entry]) -> list[Event]:
        answers = [each for each in entries if each.stream in streams.decision]
        return original(
            self,
            [structs.replace(each, expect=None) if each in answers else each for each in entries],
        )

    patches.enter_context(patch.object(store.Store, "append_all", append_all))


def versions_skipped(_simulation: "Simulation", patches: ExitStack) -> None:
    """A stream leaves a version out."""
    insert = Rows.insert

    def inserted(self: Rows, entry: backend.Entry, ver: int, actor: str, raw: bytes) -> Event:
        return insert(self, entry, ver + (ver == GAP_AT), actor, raw)

    patches.enter_context(patch.object(Rows, "insert", inserted))


def everything_admitted(simulation: "Simulation", _patches: ExitStack) -> None:
    """A lane is granted whatever other leases hold, as long as its class has room."""
    judge = simulation.site.admit

    def admit(asked: Request, standing: Sequence[Lease]) -> Refusal | None:
        refused = judge(asked, standing)
        return (
            refused if refused and refused.reason is RefusalReason.CLASS_BUDGET_EXHAUSTED else None
        )

    simulation.site.admit = admit


def class_not_counted(simulation: "Simulation", _patches: ExitStack) -> None:
    """A class of lanes may have any number of leases."""
    simulation.site.admit = partial(admission.judge, budgets={})


def parts_not_counted(simulation: "Simulation", patches: ExitStack) -> None:
    """A repeatable lane may have any number of workers."""
    site = simulation.site
    site.admit = partial(admission.judge, budgets=site.workspace.budgets)

    def place_anyway(
        candidates: Sequence[Region], held: Sequence[Region], most: int, **_bounds: object
    ) -> placement.Placement:
        return placement.place(candidates, held, most)

    patches.enter_context(patch.object(placement, "place_with_room", place_anyway))


def table_left_behind(_simulation: "Simulation", patches: ExitStack) -> None:
    """The end of a lease is recorded, and its row stays in the table."""
    patches.enter_context(patch.object(Rows, "drop_lease", lambda self, _fence: None))  # noqa: ARG005


def ended_again(_simulation: "Simulation", patches: ExitStack) -> None:
    """The end of a lease is recorded twice."""
    end = store.Store._end

    def ended(self: store.Store, tx: backend.WriteTransaction, lease: Lease, fact: Fact) -> None:
        end(self, tx, lease, fact)
        self._record_lease(tx, lease, fact)

    patches.enter_context(patch.object(store.Store, "_end", ended))


def too_much_pruned(_simulation: "Simulation", patches: ExitStack) -> None:
    """Retention also removes the events of landed units."""
    superseded = prune.superseded

    def more(happened: list[Event], *, older_than_ms: int, now_ms: int) -> list[Event]:
        landed = [event for event in happened if event.kind == UnitLanded.kind]
        return [*superseded(happened, older_than_ms=older_than_ms, now_ms=now_ms), *landed]

    patches.enter_context(patch.object(prune, "superseded", more))
