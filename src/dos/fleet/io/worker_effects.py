"""Performs the effects of a worker with the real journal, git and processes."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from secrets import token_hex
from typing import ClassVar

from msgspec import structs

from dos.agents.io import candidates, logs, orphans
from dos.agents.io.halt_listener import HaltListener
from dos.agents.io.run import Launcher
from dos.approval.io.documents import PlanTexts
from dos.backlog.attempts import Attempts
from dos.backlog.io import survey
from dos.backlog.io.target import TargetState
from dos.baseline.gate import Baselines
from dos.baseline.io.check import Baseline
from dos.baseline.io.red_tests import BaselineRetest
from dos.config.schema import Config
from dos.errors import BadInput, Fenced, Halted
from dos.fleet import effects, worker_health
from dos.fleet.choose_agent import AgentRequest, choose
from dos.fleet.effect import Performers, performs
from dos.fleet.io.agent_start import AgentStarts
from dos.fleet.io.drive import StoreRetry, check_settings
from dos.fleet.io.take_leases import LeaseTaker
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.steering import Message, Steering
from dos.git.repository import Writer
from dos.journal import fold
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.landing import queue
from dos.landing.checks import Checks
from dos.landing.isolated import IsolatedLanding
from dos.landing.queue import LandingQueue
from dos.landing.shared_tree import SharedTreeLanding
from dos.landing.target import open_target
from dos.landing.trees.check_cache import CheckCache
from dos.lanes.io.held_leases import HeldLeases
from dos.lease import Lease, Refusal
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.questions.state import Decisions
from dos.units.unit import Unit
from dos.workspace import Workspace
from dos.world import open_journal

LEASE_KEY_BYTES = 32
FRESH_SECONDS = 10.0  # how long a look at a remote branch may be used where nothing depends on it
LONGEST_WAIT_SECONDS = 5.0  # for the journal to move, before the clock is looked at again


class WorkerEffects:
    """Performs the effects of a worker for one process, which holds its leases."""

    STATES: ClassVar[tuple[type[fold.State], ...]] = (
        FleetState,
        ProviderLimits,
        FleetSpend,
        Decisions,
        Attempts,
        LandingQueue,
        Baselines,
        Steering,
    )

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        *,
        actor: str,
        target_branch: str = "",
        outlasts_outages: bool = False,
    ) -> None:
        """Open the journal and the repository; raises BadInput for contradicting settings.

        With `outlasts_outages` an outage of the journal is waited out, however long it lasts;
        otherwise for as long as a lease lasts.
        """
        check_settings(config)
        self.workspace = workspace
        self.config = config
        self.git = Writer(workspace.root)
        self._target_branch = target_branch or config.workers.target_branch
        open_another = partial(open_journal, workspace, config.store.url, actor=actor)
        self.store: Store = open_another()
        limit = None if outlasts_outages else config.leases.ttl_seconds
        self.store_retry = StoreRetry(limit, prove=self._check_lease, pause=self._pause)
        # A server has few sessions, so the threads of a process share one. What takes long there,
        # as a write lock of another process, would keep all of them waiting anyway.
        open_store: Callable[[], Store] = open_another
        if config.store.url.startswith("postgres"):
            open_store = self.store.for_thread
        listen = partial(HaltListener, open_store=open_store, is_lost=self._is_lost)
        self.holding = HeldLeases(open_store, outlasts_outages=outlasts_outages)
        is_shared = config.workers.isolation == "shared"
        self._on_target = TargetState(workspace, config, is_watched=not is_shared)
        # The effect that waits now, and until when: an outage does not make a wait longer.
        self._backing_off: tuple[effects.BackOff | None, float] = (None, 0.0)
        self._lease_key = token_hex(LEASE_KEY_BYTES)  # of every lane that this process takes
        self.checks = Checks(workspace, config, listen=listen, lease_key=self._lease_key)
        self._starts = AgentStarts(
            workspace, config, self.checks, is_lost=self._is_lost, open_store=open_store
        )
        self.watch = fold.Watch(self.store, *self.STATES, snapshots=True)
        self.baseline = Baseline(workspace, config, self.git, self.checks)
        self._launcher = Launcher(config, is_lost=self._is_lost, open_store=open_store)
        self.plan_texts = PlanTexts.for_checkout(workspace, config, self.git, self._target_commit)
        self._landing_on = open_target(self.git, config.workers.remote)
        retest = BaselineRetest(self.baseline, self.watch, self.store.now_ms, listen)
        landing = SharedTreeLanding if is_shared else IsolatedLanding
        self.trees = landing(
            workspace,
            config,
            self.git,
            target=self._landing_on,
            branch=self.target,
            checks=self.checks,
            raise_if_lease_lost=partial(self._check_lease, True),
            raise_if_halted=self._raise_if_halted,
            find_baseline_fault=retest.fault,
            declared_units=self.units,
            cache=CheckCache(self.store),
        )

    @cached_property
    def _leases(self) -> LeaseTaker:
        return LeaseTaker(
            self.workspace,
            self.config,
            self.store,
            self.holding,
            self._landing_on,
            units=self.units,
            lease_key=self._lease_key,
        )

    def performers(self) -> Performers:
        """Return the table of performers, each of which retries while the store is away."""
        rows = (
            performs(effects.TakeLease, self.take_lease),
            performs(effects.ReleaseLease, self.release_lease),
            performs(effects.Record, self.record),
            performs(effects.RecordAll, self.record_all),
            performs(effects.ClaimUnit, self.claim_unit),
            performs(effects.SurveyBacklog, self.survey),
            performs(effects.ChooseAgent, self.choose_agent),
            performs(effects.TakePlans, self.take_plans),
            performs(effects.RunAgent, self.run_agent),
            performs(effects.AwaitTurn, self.await_turn),
            performs(effects.Pause, self.pause),
            performs(effects.BackOff, self.back_off),
            performs(effects.Park, self.park),
        )
        return self.store_retry.wrap({**dict(rows), **self.trees.performers()})

    def close(self) -> None:
        """End what this process has started on the lanes that it still holds, and close up."""
        for lease in self.holding.lanes.values():
            orphans.end_processes(str(self.workspace.root), lease)
        self.holding.close()
        self.store.close()

    def take_lease(self, effect: effects.TakeLease) -> Lease | Refusal:
        """Take a lease, and remove logs of old runs of the lane."""
        taken = self._leases.take_lane(effect, start_sha=self._target_commit())
        if isinstance(taken, Lease) and not effect.is_lock:
            kept = self.config.retention.limit("runs_keep_last")
            logs.prune_lane(self.workspace.state, taken, kept)
        return taken

    def take_plans(self, effect: effects.TakePlans) -> effects.Plans | Refusal:
        return self._leases.take_plans(effect)

    def release_lease(self, effect: effects.ReleaseLease) -> None:
        self.holding.release(effect.lease.fence)
        try:
            self.store.release(effect.lease.fence, effect.reason)
        except Fenced:
            pass  # it is lost already, which is what was wanted

    def record(self, effect: effects.Record) -> Event:
        return self.store.record(
            effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect
        )

    def record_all(self, effect: effects.RecordAll) -> list[Event]:
        return self.store.append_all([record.entry for record in effect.records])

    def claim_unit(self, effect: effects.ClaimUnit) -> None:
        """Claim a unit unless another live run has; raises Conflict.

        A claim before the unit's stream was read is seen; a later one moves the stream.
        """
        events = self.store.load(effect.mark.stream)
        version = max((event.ver for event in events), default=0)
        others = {lease.run_id for lease in self.watch.refresh()} - {"", effect.lease.run_id}
        survey.check_claim(self.watch.state(FleetState), effect.unit, others)
        mark = structs.replace(effect.mark, expect=version)
        self.store.append_all([effect.claim.entry, mark.entry])

    def survey(self, effect: effects.SurveyBacklog) -> effects.Backlog:
        """Read the lane's backlog, with what people ask of the run and new incidents."""
        lease = effect.lease
        runs = {live.run_id for live in self.watch.refresh()} - {""}
        units = self.units()
        fleet = self._fleet_on_target(units, runs)
        if self._on_target.has_suspects:  # a later state of the journal says whether they landed
            self.watch.refresh()
            fleet = self._fleet_on_target(units, runs)
        backlog = survey.survey(
            units,
            worker_health.with_parts(self.config, units),
            fleet,
            lease.lane,
            runs - {lease.run_id},
            run_id=lease.run_id,
            now_ms=self.store.now_ms(),
            answers=self.watch.state(Decisions),
            tried=self.watch.state(Attempts),
        )
        requests = self.watch.state(FleetState).stop_requests(lease)
        return structs.replace(
            backlog,
            drain_requested=requests.drain,
            superseded_by=requests.superseded_by,
            halted=requests.halted,
            paused=requests.paused,
            incidents=self._on_target.incidents,
            fault_question=self.baseline.blocking_question(self.watch, lease.host),
        )

    def _fleet_on_target(self, units: list[Unit], runs: set[str]) -> FleetState:
        """Return the fleet's state, corrected by what the target branch shows."""
        return self._on_target.correct_fleet(
            self.watch.state(FleetState),
            units,
            self._landing_on,
            self.target(),
            self.watch.state(Decisions),
            runs,
        )

    def units(self) -> list[Unit]:
        """Return the units that the approved texts of the plans declare."""
        return self.plan_texts.units(self.store, self.watch.state(Decisions))

    def choose_agent(
        self, effect: effects.ChooseAgent
    ) -> effects.AgentChoice | effects.CannotStart:
        self.watch.refresh()
        lane = effect.lease.lane
        configured = candidates.configured_agents(self.config, lane, effect.agent)
        request = AgentRequest(
            run_id=effect.run_id,
            lane=lane,
            iteration=effect.iteration,
            now_ms=self.store.now_ms(),
        )
        return choose(
            self.config,
            [agent.candidate for agent in configured],
            self.watch.state(ProviderLimits),
            self.watch.state(FleetSpend),
            request,
        )

    def run_agent(self, effect: effects.RunAgent) -> effects.AgentResult:
        """Run the agent in a private home, then end what it has left running."""
        agent = candidates.configured_agent(self.config, effect.agent)
        with self.checks.agent_home(effect.lease, agent) as home:
            result = self._launcher.run(
                effect,
                agent,
                prompt=self._starts.prompt(effect, self._take_messages(effect)),
                environment=self.checks.agent_environment(effect, agent, home),
                home=home,
                log=logs.agent_log(self.workspace.state, effect),
                snapshot=partial(self.trees.snapshot, effect.worktree),
                judge=self._starts.judge(effect),
                remember=self._starts.memory(effect),
                walls=self.checks.agent_walls(effect, agent, home),
            )
            orphans.end_processes(str(self.workspace.root), effect.lease)
        logs.prune_run(self.workspace.state, effect.run_lease.lane, effect.run_id)
        return result

    def _take_messages(self, effect: effects.RunAgent) -> Sequence[Message]:
        """Return what people said that no agent of the lane was told."""
        self.watch.refresh()
        return self._starts.take_messages(effect, self.watch.state(Steering), self.store)

    def await_turn(self, effect: effects.AwaitTurn) -> int:
        """Wait for the turn to land, as long as the run is neither halted nor fenced."""
        return queue.wait_for_turn(
            effect, self.watch, self.store, check=self._check_turn, pause=self._pause
        )

    def _check_turn(self, lease: Lease, is_doubtful: bool) -> None:
        self._raise_if_halted_by_now(lease)
        if is_doubtful or self._is_lost():
            self._check_lease(True)

    def pause(self, effect: effects.Pause) -> None:
        self._pause(effect.seconds)

    def back_off(self, effect: effects.BackOff) -> None:
        """Wait, but for a drain; an outage of the journal does not make the wait longer."""
        if self._backing_off[0] is not effect:
            self._backing_off = (effect, time.monotonic() + effect.seconds)
        deadline = self._backing_off[1]
        while not self._is_lost():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            self.watch.refresh()
            fleet = self.watch.state(FleetState)
            if any(fleet.stop_requests(held).must_stop for held in self.holding.lanes.values()):
                return
            self.store.wait(self.watch.pos, min(remaining, 1.0))

    def park(self, effect: effects.Park) -> float:
        """Wait until the time is over, or until an event that may end the wait is recorded."""
        began = time.monotonic()
        while not self._is_lost():
            self.watch.refresh()
            if self.watch.state(FleetState).wake_pos > effect.wake_pos:
                break
            seconds = LONGEST_WAIT_SECONDS
            if effect.until_ms is not None:
                seconds = (effect.until_ms - self.store.now_ms()) / 1000
            if seconds <= 0:
                break
            self.store.wait(self.watch.pos, min(seconds, LONGEST_WAIT_SECONDS))
        return time.monotonic() - began

    def target(self) -> str:
        """Return the target branch, which stays the same when the user checks out another."""
        self._target_commit()
        return self._target_branch

    def _target_commit(self) -> str:
        """Return the commit of the target branch.

        Raises BadInput where there is no such branch, or no commit on it.
        """
        branch = self._target_branch or self.git.target_branch(self.config.workers.target_branch)
        if not branch:
            raise BadInput(
                f"{self.workspace.root} is on no branch, so there is nothing to land on",
                hint="Check a branch out, or name one: dos config set workers.target_branch main",
            )
        commit = self._landing_on.newest(branch, at_most_seconds=FRESH_SECONDS)
        if not commit:
            raise BadInput(
                f"the target branch {branch!r} has no commit",
                hint=f"Commit something first: git -C {self.git.tree} commit",
            )
        self._target_branch = branch
        return commit

    def _check_lease(self, doubtful: bool) -> None:
        """Raise Fenced unless the leases are still held; with `doubtful` the store is asked."""
        self.holding.check(self.store, doubtful=doubtful)

    def _raise_if_halted(self, lease: Lease) -> None:
        """Raise Halted when a person has stopped the run, so that nothing more of it lands."""
        self.watch.refresh()
        self._raise_if_halted_by_now(lease)

    def _raise_if_halted_by_now(self, lease: Lease) -> None:
        """Raise Halted by what was read of the journal so far."""
        if why := self.watch.state(FleetState).stop_requests(lease).halted:
            raise Halted(why)

    def _is_lost(self) -> bool:
        return self.holding.is_lost()

    def _pause(self, seconds: float) -> None:
        self.holding.pause(seconds)
