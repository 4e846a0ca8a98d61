"""Performs a worker's effects in a simulation: one method for each.

Effects on the journal go to the real store, those on git to the model of the repository, and what
is decided from evidence is decided by the product's own functions. An answer that takes time is a
`Later`; a process that waits for an event is `Suspended`.
"""

from collections.abc import Collection, Sequence
from math import inf

from msgspec import structs

from dos.backlog.io import survey
from dos.baseline import gate
from dos.errors import Conflict, Fenced, Halted
from dos.fleet import effects
from dos.fleet.choose_agent import AgentRequest, choose
from dos.fleet.state.fleet import FleetState
from dos.journal import streams
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.receipts.receipt import IssuedReceipt
from dos.testing.simulator.agents import Agents
from dos.testing.simulator.lease_effects import LeaseEffects
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.landing import SimulatedLanding
from dos.testing.simulator.world.process import (
    BEGIN_MS,
    Later,
    Performers,
    Process,
    Suspended,
    simulated_by,
)
from dos.testing.simulator.world.site import Site
from dos.units.unit import Landing, Unit

REFUSED_MORE = 0.6  # share of the landings on a moved branch, in worlds with more questions
OBSTRUCTED = 0.25  # share of the branch moves there
# By the kind of stream, the name under which a lost race is counted.
RACES = {
    streams.spawn.word: faults.START_CONFLICT,
    streams.limits.word: faults.PROBE_RACE,
    streams.BUDGET: faults.PROMISE_RACE,
    streams.decision.word: faults.ANSWER_RACE,
}


class WorkerEffects(LeaseEffects):
    """Performs a worker's effects against the simulated store, repository and agents."""

    def __init__(self, site: Site, agents: Agents) -> None:
        super().__init__(site, agents)
        self._landings: dict[int, SimulatedLanding] = {}  # by process

    def take_over_progress(self, process: Process, worktree: effects.Worktree) -> None:
        """Take over the commits of an agent at work, as its monitor does."""
        self.landing(process).snapshot(worktree)

    def table(self) -> Performers:
        """Return the performer of each effect."""
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

    # The journal

    def record(self, process: Process, effect: effects.Record) -> Event:
        """Append an event; a stale fence or a lost race is counted and raised."""
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
        """Append the events in one transaction; a stale fence is counted and raised."""
        try:
            return process.store.append_all([record.entry for record in effect.records])
        except Fenced:
            self.scheduler.counts[faults.STALE_WRITE] += 1
            raise

    def claim_unit(self, process: Process, effect: effects.ClaimUnit) -> None:
        """Claim the unit, unless another live run has it."""
        version = max((event.ver for event in process.store.load(effect.mark.stream)), default=0)
        others = {lease.run_id for lease in self.site.live_leases()} - {"", effect.lease.run_id}
        survey.check_claim(self.site.fleet, effect.unit, others)
        mark = structs.replace(effect.mark, expect=version)
        self.record_all(process, effects.RecordAll(records=[effect.claim, mark]))

    def survey(self, process: Process, effect: effects.SurveyBacklog) -> effects.Backlog:
        """Return the lane's open units, and what people and supervisors want of the run."""
        view = self.site.branch_view(process)
        lease = effect.lease
        units = self.site.units_on(process.host)
        fleet = self.site.fleet_on_target(view, units)
        if view.is_unsure:
            fleet = self.site.fleet_on_target(view, units)
        other_leases = [other for other in self.site.live_leases() if other.fence != lease.fence]
        others = {other.run_id for other in other_leases} - {""}
        found = self.backlog(
            units, fleet, lease.lane, self.scheduler.clock.wall_ms(), others, lease.run_id
        )
        requests = fleet.stop_requests(lease)
        return structs.replace(
            found,
            drain_requested=requests.drain,
            superseded_by=requests.superseded_by,
            halted=requests.halted,
            paused=requests.paused,
            incidents=view.incidents,
            fault_question=self.blocking_question(process.host.name),
        )

    def blocking_question(self, host: str) -> str:
        """Return the question that keeps agents from starting on a host; "" for none."""
        site = self.site
        if not site.workspace.is_checked:
            return ""
        return gate.blocking_question(site.baselines, site.decisions, host)

    def backlog(
        self,
        units: Sequence[Unit],
        fleet: FleetState,
        lane: str,
        now_ms: int,
        others: Collection[str] = frozenset(),
        run_id: str = "",
    ) -> effects.Backlog:
        """Survey the lane by the product's own code."""
        return survey.survey(
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

    def landing(self, process: Process) -> SimulatedLanding:
        """Return what a process lands with."""
        if process.pid not in self._landings:
            self._landings[process.pid] = SimulatedLanding(
                self.site, process, self._raise_if_halted
            )
        return self._landings[process.pid]

    def prepare_worktree(
        self, process: Process, effect: effects.PrepareWorktree
    ) -> effects.Worktree:
        """Save what an earlier run left in the lane, and reset it."""
        return self.landing(process).prepare(effect)

    def choose_agent(
        self, _process: Process, effect: effects.ChooseAgent
    ) -> effects.AgentChoice | effects.CannotStart:
        """Choose an agent by the product's own rules for limits and budgets."""
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
        """Start a simulated agent; the worker is resumed when it ends."""
        return self.agents.start(process, effect)

    def _raise_if_halted(self, lease: Lease) -> None:
        """Raise Halted if a person stopped the run: its work is neither measured nor landed."""
        why = self.site.fleet.stop_requests(lease).halted
        if why:
            raise Halted(why)

    def measure(self, process: Process, effect: effects.MeasureWork) -> Later[effects.Measurement]:
        """Measure the commits: their paths, and the acceptance command on them and without them."""
        measured = self.landing(process).measure(effect)
        if measured.accepted and measured.why_not_shipped:
            self._count_green_refused(effect.unit.name, effect.worktree.base)
        return Later(self.site.random.randint(1, 8), measured)

    def _count_green_refused(self, unit: str, base: str) -> None:
        """Count work that was refused because its acceptance command passes without it."""
        if self.site.passes(unit, base):
            self.scheduler.counts[faults.GREEN_REFUSED] += 1

    def save_changes(self, process: Process, effect: effects.SaveChanges) -> list[effects.Salvage]:
        """Take over what the agent left; uncommitted changes are saved to a ref."""
        return self.landing(process).save_changes(effect)

    def commit_changes(self, process: Process, effect: effects.CommitChanges) -> str:
        """Commit saved changes, where an acceptance command could judge them."""
        return self.landing(process).lanes.commit_changes(effect)

    def save_commits(self, process: Process, effect: effects.SaveCommits) -> list[effects.Salvage]:
        """Save commits that did not land to a salvage ref."""
        return self.landing(process).save_commits(effect)

    def await_turn(self, process: Process, effect: effects.AwaitTurn) -> Suspended[int]:
        """Wait until no earlier ticket is left, and answer with how many there still are."""
        self._raise_if_halted(effect.lease)
        deadline = self.scheduler.now + effect.seconds * 1000
        return self.scheduler.wait(
            process,
            deadline,
            lambda: self._is_turn(process, effect),
            lambda: self._tickets_ahead(process, effect),
        )

    def _is_turn(self, process: Process, effect: effects.AwaitTurn) -> bool:
        """Whether the worker has to wait no longer: its turn came, or it has to stop."""
        if self.site.fleet.stop_requests(effect.lease).halted:
            return True
        if self.scheduler.has_lost_lease(process):
            return True
        return not self._tickets_ahead(process, effect)

    def _tickets_ahead(self, process: Process, effect: effects.AwaitTurn) -> int:
        """Count the earlier tickets whose worker is still alive, as far as this host can tell."""
        live = {lease.fence: lease for lease in self.site.live_leases()}
        count = 0
        for ticket in self.site.landing_queue.tickets_ahead(effect.run_id):
            lease = live.get(ticket.fence)
            if lease is not None and not self.site.has_exited(lease, process.host):
                count += 1
        return count

    def prepare_landing(
        self, process: Process, effect: effects.PrepareLanding
    ) -> Later[Landing | effects.NotLanded] | effects.NotLanded:
        """Rebase the work and check it; on a moved branch either may fail by a fault."""
        if not self.scheduler.is_calm and self.repository.target != effect.worktree.base:
            for name in (faults.NOT_FITTING, faults.RED_ON_TARGET):
                if self.site.fault_plan.happens(name) or self.site.draws_question(REFUSED_MORE):
                    self.scheduler.counts[name] += 1
                    return effects.NotLanded(reason=name)
        self._raise_if_halted(effect.lease)
        ready = self.landing(process).prepare_landing(effect)
        if isinstance(ready, effects.NotLanded):
            return ready
        # The tests take time, in which others can land.
        return Later(self.site.random.random() * 4, ready)

    def move_branch(self, process: Process, effect: effects.MoveBranch) -> effects.NotLanded | None:
        """Move the target branch; a refusal is counted by its reason."""
        lane = effect.lease.lane
        fence = effect.lease.fence
        if self.site.draws_question(OBSTRUCTED):
            self.scheduler.counts[faults.OBSTACLE] += 1
            return effects.NotLanded(reason=faults.OBSTACLE, obstacle=True)
        stale = self.repository.fences.get(lane) != fence
        refused = self.landing(process).move_branch(effect)
        if refused:
            self.scheduler.counts[faults.STALE_MOVE if stale else faults.BRANCH_RACE] += 1
        return refused

    def issue_receipt(self, process: Process, effect: effects.IssueReceipt) -> IssuedReceipt:
        """Issue the receipt that was drafted before the landing."""
        return self.landing(process).issue_receipt(effect)

    def has_landed(self, process: Process, effect: effects.HasLanded) -> bool:
        """Whether the commit is on the target branch, as git shows it."""
        return self.landing(process).has_landed(effect)

    # Time

    def pause(self, _process: Process, effect: effects.Pause) -> Later[None]:
        """Wait for the given time, whatever happens."""
        return Later(effect.seconds, None)

    def back_off(self, process: Process, effect: effects.BackOff) -> Suspended[None]:
        """Wait; a request to stop ends it, also one made just before it began."""
        deadline = self.scheduler.now + effect.seconds * 1000
        return self.scheduler.wait(
            process, deadline, lambda: self._must_stop(process), lambda: None
        )

    def park(self, process: Process, effect: effects.Park) -> Suspended[float]:
        """Wait until the time is over, or until an event wakes the worker."""
        began = self.scheduler.now
        deadline = inf
        if effect.until_ms is not None:
            deadline = effect.until_ms - BEGIN_MS
        return self.scheduler.wait(
            process,
            deadline,
            lambda: self.site.fleet.wake_pos > effect.wake_pos,
            lambda: (self.scheduler.now - began) / 1000,
        )

    def _must_stop(self, process: Process) -> bool:
        """Whether a person or a supervisor wants one of the process's runs to stop."""
        leases = [renewer.lease for renewer in process.renewers.values()]
        return any(self.site.fleet.stop_requests(lease).must_stop for lease in leases)
