"""How a worker's effects are performed in a simulation: one method for each."""

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import TypeVar

from msgspec import structs

from dos.backlog.io import survey as backlog
from dos.baseline import gate
from dos.errors import Conflict, Fenced, Halted
from dos.fleet import effects
from dos.fleet.choose_agent import AgentRequest, choose
from dos.fleet.state.fleet import FleetState
from dos.journal import streams
from dos.journal.events.envelope import Event
from dos.lease import Lease, Refusal, RefusalReason, Request
from dos.receipts.receipt import IssuedReceipt
from dos.regions import Region, region
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import (
    BEGIN_MS,
    SUSPENDED,
    Later,
    Performers,
    Process,
    Suspended,
    simulated_by,
)
from dos.testing.simulator.world.repository import TARGET
from dos.testing.simulator.world.site import HOST_NAME, Site
from dos.units.unit import Landing, Unit

A = TypeVar("A")
NOWHERE = region([])
DOCUMENTS = region(["docs/**"])
LOCK_MS = 180_000  # of a supervisor: shorter ones add renewals and no risk, since its host tells of its death
REFUSED_MORE = 0.6  # of the landings on a branch that has moved, where people are asked more
OBSTRUCTED = 0.25  # of the moves of the branch there
LOOK_MS = 10_000  # between two looks of whoever waits
REFUSED = {
    RefusalReason.LANE_HELD: faults.LEASE_HELD,
    RefusalReason.REGION_OVERLAP: faults.OVERLAP,
    RefusalReason.CLASS_BUDGET_EXHAUSTED: faults.BUDGET,
}
RACES = {
    streams.spawn.word: faults.START_CONFLICT,
    streams.limits.word: faults.PROBE_RACE,
    streams.BUDGET: faults.PROMISE_RACE,
    streams.decision.word: faults.ANSWER_RACE,
}


class WorkerEffects:
    def __init__(self, site: Site, agents: Agents) -> None:
        self.site = site
        self.scheduler = site.scheduler
        self.repository = site.repository
        self.agents = agents

    def table(self) -> Performers:
        rows = (
            simulated_by(effects.TakeLease, self.take_lease),
            simulated_by(effects.ReleaseLease, self.release_lease),
            simulated_by(effects.Record, self.record),
            simulated_by(effects.RecordAll, self.record_all),
            simulated_by(effects.ClaimUnit, self.claim_unit),
            simulated_by(effects.SurveyBacklog, self.survey),
            simulated_by(effects.PrepareWorktree, self.prepare_worktree),
            simulated_by(effects.ChooseAgent, self.choose_agent),
            simulated_by(effects.TakePlans, self.take_plans),
            simulated_by(effects.RunAgent, self.run_agent),
            simulated_by(effects.MeasureWork, self.measure),
            simulated_by(effects.SaveChanges, self.save_changes),
            simulated_by(effects.CommitChanges, self.commit_changes),
            simulated_by(effects.SaveCommits, self.save_commits),
            simulated_by(effects.AwaitTurn, self.await_turn),
            simulated_by(effects.PrepareLanding, self.prepare_landing),
            simulated_by(effects.MoveBranch, self.move_branch),
            simulated_by(effects.IssueReceipt, self.issue_receipt),
            simulated_by(effects.HasLanded, self.has_landed),
            simulated_by(effects.Pause, self.pause),
            simulated_by(effects.BackOff, self.back_off),
            simulated_by(effects.Park, self.park),
        )
        return dict(rows)

    # Leases and the journal

    def take_lease(self, process: Process, effect: effects.TakeLease) -> Lease | Refusal:
        is_lock = effect.is_lock
        region = NOWHERE if is_lock else self.site.workspace.regions[effect.lane]
        taken = self._take(
            process, self._request(process, effect.lane, effect.run_id, region, is_lock=is_lock)
        )
        if isinstance(taken, Refusal):
            name = (
                faults.SECOND_SUPERVISOR
                if is_lock
                else REFUSED.get(taken.reason, str(taken.reason))
            )
            self.scheduler.counts[name] += 1
        return taken

    def take_plans(self, process: Process, effect: effects.TakePlans) -> effects.Plans | Refusal:
        """The documents lie in the lane itself, or beside all lanes."""
        documents, own = ["docs/plan.md"], effect.lease
        if not self.site.workspace.plans_outside_lanes:
            return effects.Plans(lease=own, documents=documents)
        taken = self._take(
            process, self._request(process, f"replan-{own.lane}", effect.run_id, DOCUMENTS)
        )
        if isinstance(taken, Refusal):
            self.scheduler.counts[faults.PLANS_HELD] += 1
            return taken
        return effects.Plans(lease=taken, documents=documents)

    def _take(self, process: Process, asked: Request) -> Lease | Refusal:
        asked_at, before = self.scheduler.now, self.site.reader.leases()
        taken = self._granted(process, asked) or self._acquire(process, asked)
        if isinstance(taken, Lease):
            self.scheduler.keep_renewed(process, taken, asked_at)
            if not taken.is_lock:
                self._end_predecessors(process, taken, before)
                self.repository.raise_fence(taken.lane, taken.fence)
        return taken

    def _request(
        self, process: Process, lane: str, run_id: str, region: Region, *, is_lock: bool = False
    ) -> Request:
        return Request(
            lane=lane,
            holder=f"{HOST_NAME}:{process.pid}",
            host=HOST_NAME,
            system=process.host.name,
            ttl_ms=LOCK_MS if is_lock else self.site.workspace.ttl_ms,
            region=region,
            kind="lock" if is_lock else "cluster",
            is_lock=is_lock,
            run_id=run_id,
            pid=process.pid,
            pid_started=process.started,
            start_sha=self.repository.target,
        )

    def _granted(self, process: Process, asked: Request) -> Lease | None:
        """What was granted to this very process already, when the answer was lost on its way."""
        for lease in self.site.reader.leases():
            if lease.pid == asked.pid and lease.lane == asked.lane and lease.run_id == asked.run_id:
                return next(iter(process.store.renew([lease.fence]).kept), None)
        return None

    def _acquire(self, process: Process, asked: Request) -> Lease | Refusal:
        taken = process.store.acquire(asked, self.site.admit)
        if isinstance(taken, Refusal) and self._revoke_dead_holder(process, taken.blocked_by):
            taken = process.store.acquire(asked, self.site.admit)
        return taken

    def _revoke_dead_holder(self, process: Process, fence: int | None) -> bool:
        """End a lease whose process is dead on this very host, instead of waiting until it runs out."""
        for lease in self.site.reader.leases():
            if lease.fence == fence and self.site.has_exited(lease, process.host):
                try:
                    process.store.revoke(
                        lease.fence, version=lease.version, reason="its process is gone"
                    )
                except Conflict:
                    pass  # another was quicker
                return True
        return False

    def _end_predecessors(self, process: Process, mine: Lease, before: list[Lease]) -> None:
        """Also one whose lease somebody else took first, and died before it came so far."""
        held = {
            lease.pid
            for lease in before
            if lease.lane == mine.lane and lease.system == process.host.name
        }
        for old in list(self.scheduler.processes.values()):
            was_here = old.lane == mine.lane and not old.is_supervisor and old.host is process.host
            if old is not process and old.alive and (was_here or old.pid in held):
                self.scheduler.kill(old)
        self.agents.end_older_agents(process.host.name, mine.lane, mine.fence - 1)

    def release_lease(self, process: Process, effect: effects.ReleaseLease) -> None:
        self.scheduler.stop_renewing(process, effect.lease.fence)
        try:
            process.store.release(effect.lease.fence, effect.reason)
        except Fenced:
            pass  # it is not its own any more, and that is what was wanted

    def record(self, process: Process, effect: effects.Record) -> Event:
        try:
            return process.store.record(
                effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect
            )
        except Fenced:
            self.scheduler.counts[faults.STALE_WRITE] += 1
            raise
        except Conflict:
            self.scheduler.counts[RACES[streams.family(effect.stream)]] += 1
            raise

    def record_all(self, process: Process, effect: effects.RecordAll) -> list[Event]:
        try:
            return process.store.append_all([each.entry for each in effect.records])
        except Fenced:
            self.scheduler.counts[faults.STALE_WRITE] += 1
            raise

    def claim_unit(self, process: Process, effect: effects.ClaimUnit) -> None:
        version = max((event.ver for event in process.store.load(effect.mark.stream)), default=0)
        others = {lease.run_id for lease in self.site.live_leases()} - {"", effect.lease.run_id}
        backlog.check_claim(self.site.fleet, effect.unit, others)
        mark = structs.replace(effect.mark, expect=version)
        self.record_all(process, effects.RecordAll(records=[effect.claim, mark]))

    def survey(self, process: Process, effect: effects.SurveyBacklog) -> effects.Backlog:
        view, lease = self.site.branch_view(process), effect.lease
        units = self.site.units_on(process.host)
        fleet = self.site.fleet_on_target(view, units)
        if view.is_unsure:
            fleet = self.site.fleet_on_target(view, units)
        others = {each.run_id for each in self.site.live_leases() if each.fence != lease.fence} - {
            ""
        }
        found = self.backlog(
            units, fleet, lease.lane, self.scheduler.clock.wall_ms(), others, lease.run_id
        )
        orders = fleet.stop_requests(lease)
        return structs.replace(
            found,
            drain_requested=orders.drain,
            superseded_by=orders.superseded_by,
            halted=orders.halted,
            paused=orders.paused,
            incidents=view.incidents,
            fault_question=self.blocking_question(process.host.name),
        )

    def blocking_question(self, host: str) -> str:
        """The question that keeps agents from starting on a host."""
        site = self.site
        return (
            gate.blocking_question(site.baselines, site.decisions, host)
            if site.workspace.is_checked
            else ""
        )

    def backlog(
        self,
        units: Sequence[Unit],
        fleet: FleetState,
        lane: str,
        now_ms: int,
        others: Collection[str] = frozenset(),
        run_id: str = "",
    ) -> effects.Backlog:
        return backlog.survey(
            units,
            self.site.workspace.config,
            fleet,
            lane,
            others,
            run_id=run_id,
            now_ms=now_ms,
            answers=self.site.decisions,
            tried=self.site.attempts,
        )

    # The repository

    def prepare_worktree(
        self, process: Process, effect: effects.PrepareWorktree
    ) -> effects.Worktree:
        path = f"{process.host.name}/{effect.lane}"
        tree = self.repository.tree(path)
        saved = self.repository.prepare(tree, effect.run_id)
        return effects.Worktree(
            path=path, target=TARGET, base=tree.base, salvaged=saved, queue=TARGET
        )

    def choose_agent(
        self, process: Process, effect: effects.ChooseAgent
    ) -> effects.AgentChoice | effects.CannotStart:
        chosen = choose(
            self.site.workspace.config,
            self.site.workspace.agents,
            self.site.quota,
            self.site.spend,
            AgentRequest(
                run_id=effect.run_id,
                lane=effect.lease.lane,
                iteration=effect.iteration,
                now_ms=self.scheduler.clock.wall_ms(),
            ),
        )
        if isinstance(chosen, effects.CannotStart) and chosen.is_reserved:
            self.scheduler.counts[faults.PROMISED] += 1
        return chosen

    def run_agent(
        self, process: Process, effect: effects.RunAgent
    ) -> Suspended[effects.AgentResult]:
        return self.agents.start(process, effect)

    def _raise_if_halted(self, lease: Lease) -> None:
        """Of a run that a person has stopped nothing is measured or landed any more."""
        if why := self.site.fleet.stop_requests(lease).halted:
            raise Halted(why)

    def measure(self, process: Process, effect: effects.MeasureWork) -> Later[effects.Measurement]:
        self._raise_if_halted(effect.lease)
        tree = self.repository.trees[effect.worktree.path]
        commits = self.repository.since(effect.worktree.base, tree.head)
        strays = ["outside.txt"] if any(each.strays for each in commits) else []
        accepted = not any(each.red for each in commits) if commits and not strays else None
        measured = effects.Measurement(
            head=tree.head,
            commits=[each.id for each in commits],
            strays=strays,
            changed_paths=len(commits),
            accepted=accepted,
        )
        return Later(self.site.random.randint(1, 8), measured)

    def save_changes(self, process: Process, effect: effects.SaveChanges) -> list[effects.Salvage]:
        tree = self.repository.trees[effect.worktree.path]
        return self.repository.save_changes(tree, effect.run_id, "left uncommitted")

    def commit_changes(self, process: Process, effect: effects.CommitChanges) -> str:
        """Nothing here accepts what an agent has left: it only lied."""
        return ""

    def save_commits(self, process: Process, effect: effects.SaveCommits) -> list[effects.Salvage]:
        tree = self.repository.trees[effect.worktree.path]
        return self.repository.save_commits(tree, effect.run_id, "did not land")

    def await_turn(self, process: Process, effect: effects.AwaitTurn) -> Suspended[int]:
        """Looked at now and then, as everybody who waits does."""
        self._raise_if_halted(effect.lease)
        deadline = self.scheduler.now + effect.seconds * 1000
        return self._wait(
            process,
            deadline,
            lambda: self._is_turn(process, effect),
            lambda: self._tickets_ahead(process, effect),
        )

    def _is_turn(self, process: Process, effect: effects.AwaitTurn) -> bool:
        is_halted = bool(self.site.fleet.stop_requests(effect.lease).halted)
        return (
            is_halted
            or self.scheduler.has_lost_lease(process)
            or not self._tickets_ahead(process, effect)
        )

    def _tickets_ahead(self, process: Process, effect: effects.AwaitTurn) -> int:
        live = {lease.fence: lease for lease in self.site.live_leases()}
        tickets = self.site.landing_queue.tickets_ahead(effect.run_id)
        return sum(
            each.fence in live and not self.site.has_exited(live[each.fence], process.host)
            for each in tickets
        )

    def prepare_landing(
        self, process: Process, effect: effects.PrepareLanding
    ) -> Later[Landing | effects.NotLanded] | effects.NotLanded:
        tree = self.repository.trees[effect.worktree.path]
        if not self.scheduler.is_calm and self.repository.target != effect.worktree.base:
            for name in (faults.NOT_FITTING, faults.RED_ON_TARGET):
                if self.site.fault_plan.happens(name) or self.site.draws_question(REFUSED_MORE):
                    self.scheduler.counts[name] += 1
                    return effects.NotLanded(reason=name)
        self._raise_if_halted(effect.lease)
        ready = self.repository.prepare_landing(
            effect.unit.name, tree, effect.head, effect.worktree.base
        )
        return Later(
            self.site.random.random() * 4, ready
        )  # the tests run, and others land meanwhile

    def move_branch(self, process: Process, effect: effects.MoveBranch) -> effects.NotLanded | None:
        lane, fence = effect.lease.lane, effect.lease.fence
        if self.site.draws_question(OBSTRUCTED):
            self.scheduler.counts[faults.OBSTACLE] += 1
            return effects.NotLanded(reason=faults.OBSTACLE, obstacle=True)
        stale = self.repository.fences.get(lane) != fence
        refused = self.repository.move(lane, fence, effect.landing)
        if refused:
            self.scheduler.counts[faults.STALE_MOVE if stale else faults.BRANCH_RACE] += 1
        return refused

    def issue_receipt(self, process: Process, effect: effects.IssueReceipt) -> IssuedReceipt:
        return IssuedReceipt(receipt=None, message="simulated")

    def has_landed(self, process: Process, effect: effects.HasLanded) -> bool:
        return effect.landing.commit in self.repository.on_target

    # Time

    def pause(self, process: Process, effect: effects.Pause) -> Later[None]:
        return Later(effect.seconds, None)

    def back_off(self, process: Process, effect: effects.BackOff) -> Suspended[None]:
        """A drain ends it, also one that was asked for just before it began."""
        began = self.scheduler.now
        deadline = began + effect.seconds * 1000
        return self._wait(process, deadline, lambda: self._must_stop(process), lambda: None)

    def park(self, process: Process, effect: effects.Park) -> Suspended[float]:
        """Until the time is over, or until somebody says something, or has said it since the process last looked."""
        began, said = self.scheduler.now, effect.wake_pos
        deadline = inf if effect.until_ms is None else effect.until_ms - BEGIN_MS
        return self._wait(
            process,
            deadline,
            lambda: self.site.fleet.wake_pos > said,
            lambda: (self.scheduler.now - began) / 1000,
        )

    def _wait(
        self,
        process: Process,
        deadline: float,
        is_over: Callable[[], bool],
        answer: Callable[[], A],
    ) -> Suspended[A]:
        """The answer is made when the time is over, or what is waited for has come."""
        self._poll(process, deadline, is_over, answer)
        return SUSPENDED

    def _poll(
        self,
        process: Process,
        deadline: float,
        is_over: Callable[[], bool],
        answer: Callable[[], object],
    ) -> None:
        left = deadline - self.scheduler.now
        over = left <= 0 or self.scheduler.has_lost_lease(process) or is_over()
        if not process.alive:
            return
        if process.paused_until > self.scheduler.now:
            left = process.paused_until - self.scheduler.now
        elif over:
            self.scheduler.schedule(0, self._resume, (process, answer))
            return
        self.scheduler.schedule(
            min(left, LOOK_MS), lambda _: self._poll(process, deadline, is_over, answer)
        )

    def _resume(self, waited: tuple[Process, Callable[[], object]]) -> None:
        process, answer = waited
        if process.alive:
            self.scheduler.resume(process, answer())

    def _must_stop(self, process: Process) -> bool:
        return any(
            self.site.fleet.stop_requests(renewer.lease).must_stop
            for renewer in process.renewers.values()
        )
