"""How a worker's effects are performed for real: SQLite or PostgreSQL, git, processes."""

import time
from collections.abc import Sequence
from functools import partial
from secrets import token_hex
from typing import ClassVar

from msgspec import structs

from dos import regions
from dos.agents import prompt
from dos.agents.io import candidates, logs, orphans
from dos.agents.io.halt_listener import HaltListener
from dos.agents.io.run import Launcher
from dos.approval.io.plans import PlanTexts
from dos.backlog.attempts import Attempts
from dos.backlog.io import survey as backlog
from dos.backlog.io.target import TargetState
from dos.baseline.gate import Baselines
from dos.baseline.io.check import Baseline
from dos.baseline.io.red_tests import BaselineRetest
from dos.config.schema import Config
from dos.errors import BadInput, Conflict, Fenced, Halted
from dos.fleet import effects
from dos.fleet.choose_agent import AgentRequest, choose
from dos.fleet.effect import Performers, performs
from dos.fleet.io.drive import StoreRetry
from dos.fleet.io.startup import check_settings
from dos.fleet.state.fleet import FleetState
from dos.git import target as target_branch
from dos.git.repository import Writer
from dos.journal import fold
from dos.journal.events.envelope import Event
from dos.journal.store import Store
from dos.landing import queue
from dos.landing import target as targets
from dos.landing.checks import Checks
from dos.landing.isolated import IsolatedLanding
from dos.landing.queue import LandingQueue
from dos.landing.shared_tree import SharedTreeLanding
from dos.lanes.io import held_leases
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import HeldLeases, lease_request
from dos.lease import Lease, Refusal, Request
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import Spend
from dos.machine import process
from dos.questions.state import Decisions
from dos.units.io import documents as plan_documents
from dos.units.unit import Unit
from dos.workspace import Workspace
from dos.world import open_journal

LEASE_KEY_BYTES = 32
FRESH_SECONDS = 10.0  # a look at a remote branch is good for this long, where nothing hangs on it
LONGEST_WAIT_SECONDS = 5.0  # for the journal to move, where nothing else ends a wait


class WorkerEffects:
    STATES: ClassVar[tuple[type[fold.State], ...]] = (
        FleetState, ProviderLimits, Spend, Decisions, Attempts, LandingQueue, Baselines,
    )  # fmt: skip

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        *,
        actor: str,
        target_branch: str = "",
        outlasts_outages: bool = False,
    ) -> None:
        """With `outlasts_outages` a journal that is away is waited for however long it takes, not only for a lease."""
        check_settings(config)
        self.workspace = workspace
        self.config = config
        self.git = Writer(workspace.root)
        self._target_branch = target_branch or config.workers.target_branch
        self._open = partial(open_journal, workspace, config.store.url, actor=actor)
        self.store: Store = self._open()
        limit = None if outlasts_outages else config.leases.ttl_seconds
        self.store_retry = StoreRetry(limit, prove=self._prove, pause=self._pause)
        # A server has few sessions to give: the threads of a process share one. What takes long there, as a write lock
        # that another has, would keep all of them waiting anyway.
        beside = self.store.for_thread if config.store.url.startswith("postgres") else self._open
        listen = partial(HaltListener, open_store=beside, is_lost=self._is_lost)
        self.holding = HeldLeases(beside, outlasts_outages=outlasts_outages)
        self._before: dict[tuple[str, str], list[Lease]] = {}  # of a lane that is being taken
        self._on_target = TargetState(
            workspace, config, is_watched=config.workers.isolation != "shared"
        )
        self._backing_off: tuple[effects.BackOff | None, float] = (None, 0.0)  # until when
        self._lease_key = token_hex(LEASE_KEY_BYTES)  # of every lane that this process takes
        self.checks = Checks(workspace, config, listen=listen, lease_key=self._lease_key)
        self.watch = fold.Watch(self.store, *self.STATES, snapshots=True)
        self.baseline = Baseline(workspace, config, self.git, self.checks)
        self._launcher = Launcher(config, is_lost=self._is_lost, open_store=beside)
        self.plan_texts = PlanTexts.for_checkout(workspace, config, self.git, self._target_commit)
        self._landing_on = targets.open_target(self.git, config.workers.remote)
        ground = SharedTreeLanding if config.workers.isolation == "shared" else IsolatedLanding
        self.trees = ground(
            workspace,
            config,
            self.git,
            target=self._landing_on,
            branch=self.target,
            checks=self.checks,
            raise_if_lease_lost=partial(self._prove, True),
            raise_if_halted=self._raise_if_halted,
            find_baseline_fault=BaselineRetest(
                self.baseline, self.watch, self.store.now_ms, listen
            ).fault,
            declared_units=self.units,
        )

    def agents(self, lane: str, unit_agent: str = "") -> list[AgentCandidate]:
        return [
            each.candidate for each in candidates.configured_agents(self.config, lane, unit_agent)
        ]

    def performers(self) -> Performers:
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
            performs(effects.Pause, lambda effect: self._pause(effect.seconds)),
            performs(effects.BackOff, self.back_off),
            performs(effects.Park, self.park),
        )
        return self.store_retry.wrap({**dict(rows), **self.trees.performers()})

    def close(self) -> None:
        for held in (
            self.holding.lanes.values()
        ):  # we were broken off: nothing that we started may go on without us
            orphans.end_processes(str(self.workspace.root), held)
        self.holding.close()
        self.store.close()

    def take_lease(self, effect: effects.TakeLease) -> Lease | Refusal:
        asked = lease_request(
            self.config, effect.lane, run_id=effect.run_id, is_lock=effect.is_lock, start_sha=self._target_commit(),
            lease_key=self._lease_key,
        )  # fmt: skip
        taken = self._take(asked)
        if isinstance(taken, Lease) and not effect.is_lock:
            logs.prune_lane(
                self.workspace.state, taken, self.config.retention.limit("runs_keep_last")
            )
        return taken

    def _take(self, asked: Request) -> Lease | Refusal:
        """It can be repeated: who held the lane is only to be seen before it was taken."""
        asked_at, before = (
            held_leases.lease_seconds(),
            self._before.setdefault((asked.lane, asked.run_id), self.store.leases()),
        )
        taken = self._granted(asked) or self._acquire(asked)
        if isinstance(taken, Lease):
            self.holding.add(taken, requested_at=asked_at)
            if not asked.is_lock:
                self._evict_previous_holder(taken, before)
        del self._before[asked.lane, asked.run_id]
        return taken

    def _evict_previous_holder(self, taken: Lease, before: Sequence[Lease]) -> None:
        """Whoever had the lane before us does nothing there any more, and lands nothing."""
        orphans.end_previous_worker(
            self.workspace.state, [lease for lease in before if lease.lane == taken.lane], taken
        )
        orphans.end_processes(str(self.workspace.root), taken)
        self._landing_on.raise_fence(taken.lane, taken.fence)

    def take_plans(self, effect: effects.TakePlans) -> effects.Plans | Refusal:
        paths, root = self.config.paths, self.workspace.root
        found = plan_documents.plan_paths(root, paths.plans_glob, paths.next_packets)
        documents = [path.relative_to(root).as_posix() for path in found]
        own = effect.lease
        if documents and all(regions.lane_holds(own.region, each) for each in documents):
            return effects.Plans(lease=own, documents=documents)
        plans = regions.region([self.config.paths.plans_glob])
        asked = structs.replace(
            lease_request(self.config, own.lane, run_id=effect.run_id, lease_key=self._lease_key),
            lane=f"replan-{own.lane}",
            region=plans,
        )
        taken = self._take(asked)
        return (
            taken if isinstance(taken, Refusal) else effects.Plans(lease=taken, documents=documents)
        )

    def _granted(self, asked: Request) -> Lease | None:
        """What was granted to this very process already, when the answer was lost on its way."""
        same = ("lane", "system", "pid", "pid_started", "run_id")
        for lease in self.store.leases(locks=asked.is_lock):
            if all(getattr(lease, name) == getattr(asked, name) for name in same):
                return next(iter(self.store.renew([lease.fence]).kept), None)
        return None

    def _acquire(self, asked: Request) -> Lease | Refusal:
        admit = admission_rules(self.workspace.root, self.config)
        taken = self.store.acquire(asked, admit)
        if isinstance(taken, Refusal) and self._revoke_dead_holder(taken.blocked_by):
            taken = self.store.acquire(asked, admit)
        return taken

    def _revoke_dead_holder(self, fence: int | None) -> bool:
        """End a lease whose process is dead here and now, instead of waiting until it runs out."""
        for lease in [*self.store.leases(), *self.store.leases(locks=True)]:
            if lease.fence == fence and process.holder_has_exited(lease):
                try:
                    self.store.revoke(
                        lease.fence, version=lease.version, reason="its process is gone"
                    )
                except Conflict:
                    pass  # another was quicker
                return True
        return False

    def release_lease(self, effect: effects.ReleaseLease) -> None:
        self.holding.release(effect.lease.fence)
        try:
            self.store.release(effect.lease.fence, effect.reason)
        except Fenced:
            pass  # it is not ours any more, and that is what was wanted

    def record(self, effect: effects.Record) -> Event:
        return self.store.record(
            effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect
        )

    def record_all(self, effect: effects.RecordAll) -> list[Event]:
        return self.store.append_all([each.entry for each in effect.records])

    def claim_unit(self, effect: effects.ClaimUnit) -> None:
        """What was claimed before the stream is looked at is known; what is claimed after that moves it."""
        version = max((event.ver for event in self.store.load(effect.mark.stream)), default=0)
        others = {lease.run_id for lease in self.watch.refresh()} - {"", effect.lease.run_id}
        backlog.check_claim(self.watch.state(FleetState), effect.unit, others)
        self.store.append_all(
            [effect.claim.entry, structs.replace(effect.mark, expect=version).entry]
        )

    def survey(self, effect: effects.SurveyBacklog) -> effects.Backlog:
        live = self.watch.refresh()
        fleet, lease = self.watch.state(FleetState), effect.lease
        units = self.units()
        answers = self.watch.state(Decisions)
        runs = {each.run_id for each in live} - {""}
        branch = self.target()
        fleet = self._on_target.correct_fleet(fleet, units, self._landing_on, branch, answers, runs)
        if self._on_target.has_suspects:
            self.watch.refresh()
            fleet = self._on_target.correct_fleet(
                self.watch.state(FleetState), units, self._landing_on, branch, answers, runs
            )
        others = runs - {lease.run_id}
        found = backlog.survey(
            units,
            self.config,
            fleet,
            lease.lane,
            others,
            run_id=lease.run_id,
            now_ms=self.store.now_ms(),
            answers=answers,
            tried=self.watch.state(Attempts),
        )
        orders = self.watch.state(FleetState).stop_requests(lease)
        return structs.replace(
            found,
            drain_requested=orders.drain,
            superseded_by=orders.superseded_by,
            halted=orders.halted,
            paused=orders.paused,
            incidents=self._on_target.incidents,
            fault_question=self.baseline.blocking_question(self.watch, lease.host),
        )

    def units(self) -> list[Unit]:
        return self.plan_texts.units(self.store, self.watch.state(Decisions))

    def choose_agent(
        self, effect: effects.ChooseAgent
    ) -> effects.AgentChoice | effects.CannotStart:
        self.watch.refresh()
        return choose(
            self.config,
            self.agents(effect.lease.lane, effect.agent),
            self.watch.state(ProviderLimits),
            self.watch.state(Spend),
            AgentRequest(
                run_id=effect.run_id,
                lane=effect.lease.lane,
                iteration=effect.iteration,
                now_ms=self.store.now_ms(),
            ),
        )

    def run_agent(self, effect: effects.RunAgent) -> effects.AgentResult:
        text = self._prompt(effect)
        ended = self._launcher.run(
            effect,
            candidates.configured_agent(self.config, effect.agent),
            prompt=text,
            environment=self.checks.agent_environment(
                effect.lease, effect.run_id, effect.unit.name
            ),
            log=logs.agent_log(self.workspace.state, effect),
        )
        logs.prune_run(self.workspace.state, effect.run_lease.lane, effect.run_id)
        orphans.end_processes(str(self.workspace.root), effect.lease)
        return ended

    def _prompt(self, effect: effects.RunAgent) -> str:
        globs = effect.lease.region.globs
        if effect.documents:
            lanes = self.config.known_lanes()
            return prompt.replan_prompt(
                effect.documents, lanes=lanes, held=effect.history, globs=globs
            )
        acceptance = self.checks.acceptance(effect.unit)
        return prompt.unit_prompt(
            effect.unit, globs=globs, acceptance=acceptance, history=effect.history
        )

    def await_turn(self, effect: effects.AwaitTurn) -> int:
        return queue.wait_for_turn(
            effect, self.watch, self.store, check=self._check_turn, pause=self._pause
        )

    def _check_turn(self, lease: Lease, is_doubtful: bool) -> None:
        self._obey(lease)
        if is_doubtful or self._is_lost():
            self._prove(True)

    def back_off(self, effect: effects.BackOff) -> None:
        """A drain ends it, also one that was asked for just before it began. An outage does not make it longer."""
        if self._backing_off[0] is not effect:
            self._backing_off = effect, time.monotonic() + effect.seconds
        deadline = self._backing_off[1]
        while (left := deadline - time.monotonic()) > 0 and not self._is_lost():
            self.watch.refresh()
            fleet = self.watch.state(FleetState)
            if any(fleet.stop_requests(held).must_stop for held in self.holding.lanes.values()):
                return
            self.store.wait(self.watch.pos, min(left, 1.0))

    def park(self, effect: effects.Park) -> float:
        """Until the time is over, or until somebody said something that may have changed it."""
        began = time.monotonic()
        while not self._is_lost():
            self.watch.refresh()
            now_ms = self.store.now_ms()
            if effect.until_ms is not None and now_ms >= effect.until_ms:
                break
            if self.watch.state(FleetState).wake_pos > effect.wake_pos:
                break
            left = (
                LONGEST_WAIT_SECONDS
                if effect.until_ms is None
                else (effect.until_ms - now_ms) / 1000
            )
            self.store.wait(self.watch.pos, min(left, LONGEST_WAIT_SECONDS))
        return time.monotonic() - began

    def target(self) -> str:
        """Decided once: a branch that the user checks out meanwhile is not a new target."""
        self._target_commit()
        return self._target_branch

    def _target_commit(self) -> str:
        """What the target branch is at. Raises BadInput where there is no such branch, or nothing on it."""
        found = self._target_branch or target_branch.branch(self.config, self.git)
        if not found:
            raise BadInput(
                f"{self.workspace.root} is on no branch, so there is nothing to land on",
                hint="Check a branch out, or name one: dos config set workers.target_branch main",
            )
        commit = self._landing_on.newest(found, at_most_seconds=FRESH_SECONDS)
        if not commit:
            raise BadInput(
                f"the target branch {found!r} has no commit",
                hint=f"Commit something first: git -C {self.git.tree} commit",
            )
        self._target_branch = found
        return commit

    def _prove(self, doubtful: bool) -> None:
        self.holding.check(self.store, doubtful=doubtful)

    def _raise_if_halted(self, lease: Lease) -> None:
        """Raise when a person has stopped the run: nothing of it is measured or landed any more."""
        self.watch.refresh()
        self._obey(lease)

    def _obey(self, lease: Lease) -> None:
        if why := self.watch.state(FleetState).stop_requests(lease).halted:
            raise Halted(why)

    def _is_lost(self) -> bool:
        return self.holding.is_lost()

    def _pause(self, seconds: float) -> None:
        self.holding.pause(seconds)
