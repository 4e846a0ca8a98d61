"""Simulated agents: they edit, commit and claim; or lie, stray, stall, hit limits and crash.

An agent acts three times: it edits, it commits, it ends. Its fault, drawn at its start, says which
of these it leaves out and how it ends. What it did is in the model of git, what it says is in its
result, and only the first may count.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from dos.agents.adapter import LAUNCH_FAILED, AgentOutcome, Ending, Usage
from dos.fleet import effects
from dos.regions import Region
from dos.testing.simulator.talks.talks import Talks
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.agent import Agent
from dos.testing.simulator.world.process import SUSPENDED, KilledInEffect, Process, Suspended
from dos.testing.simulator.world.repository import OUTSIDE, Tree
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.workspace import COST_USD, SILENCE_SECONDS, WALL_SECONDS

LONGEST_LIMIT_SECONDS = 240
DOUBTED_LIMIT = timedelta(days=60)
KILLED = 0.8  # share of the workers that die at the deadly unit
ASKED_ABOUT = 0.06  # share of the agents, for each fault that people are asked about


# How an agent with a fault ends; without one of these it ends well.
ENDINGS = {
    faults.STALL: Ending.HANG,
    faults.SPIN: Ending.HANG,
    faults.LIMIT: Ending.USAGE_WINDOW,
    faults.LIMIT_UNTIL: Ending.USAGE_WINDOW,
    faults.OVERLOADED: Ending.OVERLOADED,
    faults.NO_CREDIT: Ending.SPEND_STOP,
    faults.AGENT_CRASH: Ending.CRASH,
    faults.AGENT_MISSING: Ending.LAUNCH_FAILED,
    faults.NOT_INSTALLED: Ending.LAUNCH_FAILED,
    faults.LIMIT_DOUBTED: Ending.USAGE_WINDOW,
}
# The faults with which an agent still commits, and those with which it still edits.
COMMITS = ("", faults.STRAY, faults.RED, faults.LEFTOVERS, *faults.TRESPASSES)
EDITS = (*COMMITS, faults.TO_BRANCH, faults.LIE, faults.STALL, faults.SPIN, faults.AGENT_CRASH)


class Agents:
    """Starts, drives and ends the agents of all workers.

    The worker of an agent is suspended until the agent ends; its lease is renewed meanwhile.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.scheduler = site.scheduler
        self.running: list[Agent] = []
        self.talks = Talks(site, None)
        self.on_progress: Callable[[Process, effects.Worktree], None] = lambda _process, _tree: None

    def start(self, process: Process, effect: effects.RunAgent) -> Suspended[effects.AgentResult]:
        """Start an agent; the worker is resumed with its result when the agent ends."""
        random = self.site.random
        fault = ""
        if not self.scheduler.is_calm:
            fault = self._fault()
        if fault:
            self.scheduler.counts[fault] += 1
        seconds = {
            faults.STALL: SILENCE_SECONDS + 10,
            faults.SPIN: WALL_SECONDS,
            faults.AGENT_MISSING: 1,
            faults.NOT_INSTALLED: 1,
        }.get(fault, random.randint(5, 60))
        tree = self.site.repository.trees[effect.worktree.path]
        agent = Agent(process, effect, tree, fault, self.scheduler.now, seconds)
        self.talks.start(agent)
        process.agent = agent
        self.running = [agent for agent in self.running if agent.alive and agent.worker.alive]
        self.running.append(agent)
        self.scheduler.schedule(seconds * 300, self._act, agent)
        if effect.unit.name == self.site.deadly_unit and self.site.draws_question(KILLED):
            self.scheduler.counts[faults.DEADLY_UNIT] += 1
            self.scheduler.schedule(seconds * 100, self.scheduler.kill, process)
        return SUSPENDED

    def _fault(self) -> str:
        """Draw the agent's fault; "" if it does its work."""
        fault = self.site.fault_plan.draw_agent_fault()
        for name in (faults.NOT_INSTALLED, faults.LIMIT_DOUBTED, faults.TO_BRANCH):
            if not fault and self.site.draws_question(ASKED_ABOUT):
                fault = name
        return fault or self.site.lane_faults.draw_trespass()

    def end_older_agents(self, host: str, lane: str, fence: int) -> None:
        """End the agents of the lane on this host that run under this fence or an older one."""
        for agent in self.running:
            lease = agent.effect.lease
            if (
                agent.alive
                and agent.worker.host.name == host
                and lease.lane == lane
                and lease.fence <= fence
            ):
                self._end(agent, Ending.KILLED)

    def stop(self, process: Process) -> None:
        """Kill the worker's agent: it has lost the lease, or a person halted the run."""
        agent = process.agent
        if isinstance(agent, Agent) and agent.alive:
            self._end(agent, Ending.KILLED)

    def _act(self, agent: Agent) -> None:
        """Edit, then commit, then end: one of them at each call."""
        if not (agent.alive and agent.worker.alive):
            return
        if self.talks.is_blocked(agent):
            if self.talks.end_for(agent):
                self._end(agent, Ending.HANG)
            else:
                self.scheduler.schedule(1_000, self._act, agent)
            return
        repository = self.site.repository
        unit = agent.effect.unit.name
        agent.done += 1
        if agent.done == 1 and agent.fault in EDITS:
            self._edit(agent, agent.tree)
            if agent.fault == faults.WRITES_ELSEWHERE:
                self._write_elsewhere(agent)
        elif agent.done == 2 and agent.fault in COMMITS:
            self._commit(agent)
        elif agent.done == 2 and agent.fault == faults.TO_BRANCH and not agent.effect.documents:
            repository.commit_to_branch(agent.tree, unit)
        if agent.done == 3:
            self._end(agent, ENDINGS.get(agent.fault, Ending.OK))
        else:
            self.scheduler.schedule(agent.seconds * 350, self._act, agent)

    def _edit(self, agent: Agent, tree: Tree) -> None:
        """Make an edit inside the agent's lane, or outside of every lane."""
        path = _path_in(agent.effect.lease.region)
        if agent.fault == faults.STRAY:
            path = OUTSIDE
        self.site.repository.edit(tree, path, agent.effect.lease.lane)

    def _commit(self, agent: Agent) -> None:
        """Commit the work, with what the agent does besides; its monitor may look at it then."""
        repository, fault, tree = self.site.repository, agent.fault, agent.tree
        names = [agent.effect.unit.name]
        # What a replan names is not judged at its landing: only the oracle reads it later.
        if fault == faults.NAMES_ANOTHER and not agent.effect.documents:
            names += [unit.name for unit in self.site.units if unit.name not in names][:1]
        repository.commit(
            tree, *names, red=fault == faults.RED, rewrites_history=fault == faults.REWRITES
        )
        if fault == faults.LEFTOVERS:
            self._edit(agent, tree)
        elif fault == faults.LANE_DAMAGED:
            tree.is_damaged = True
        if agent.worker.paused_until <= self.scheduler.now:
            try:
                self.on_progress(agent.worker, agent.effect.worktree)
            except KilledInEffect:
                self.scheduler.kill(agent.worker)

    def _write_elsewhere(self, agent: Agent) -> None:
        """Write into the other lanes of the host.

        Walls refuse whatever it writes there. Without walls it commits work of its own there, which
        the landing of the other lane has to notice; what it could hide there is not promised.
        """
        repository, regions = self.site.repository, self.site.workspace.regions
        host = agent.worker.host.name
        for path, tree in repository.trees.items():
            is_other = path.startswith(f"{host}/") and tree is not agent.tree
            if not is_other or not tree.base or tree.lane not in regions:
                continue
            if not self.site.lane_faults.is_walled:
                self._edit(agent, tree)
                repository.disown(tree)
                repository.commit(tree, agent.effect.unit.name)
            elif self.passes_walls():
                repository.edit(tree, _path_in(regions[tree.lane]), agent.effect.lease.lane)
            else:
                self.scheduler.counts[faults.WALL] += 1

    def passes_walls(self) -> bool:
        """Whether an agent can write outside its lane where there are walls."""
        return False

    def _end(self, agent: Agent, how: Ending) -> None:
        """End the agent; a worker that sleeps learns of it when it wakes."""
        agent.alive = False
        self.talks.end(agent)
        process = agent.worker
        wait = max(0, process.paused_until - self.scheduler.now)
        self.scheduler.schedule(wait, self._resume_worker, (agent, self._result(agent, how)))

    def _resume_worker(self, ended: tuple[Agent, effects.AgentResult]) -> None:
        """Resume the worker with the result, unless it died or has another agent by now."""
        agent, result = ended
        if agent.worker.alive and agent.worker.agent is agent:
            agent.worker.agent = None
            self.scheduler.resume(agent.worker, result)

    def _cost(self, agent: Agent) -> float:
        """Draw the cost; an agent that has a limit stays within it and within its allowance."""
        cost = round(2 * COST_USD * self.site.random.random(), 2)
        for candidate in self.site.workspace.agents:
            if candidate.name == agent.effect.agent and candidate.max_usd is not None:
                cost = min(cost, candidate.max_usd)
                if agent.effect.allowance.usd is not None:
                    cost = min(cost, agent.effect.allowance.usd)
        return cost

    def _result(self, agent: Agent, how: Ending) -> effects.AgentResult:
        """Return what the worker learns of the agent: how it ended, its claim and its cost.

        Only an agent that ends well claims anything; it claims so whether or not it has done its
        work.
        """
        resets_at = None
        if agent.fault == faults.LIMIT_UNTIL:
            wait = self.site.random.randint(30, LONGEST_LIMIT_SECONDS)
            resets_at = self._now() + timedelta(seconds=wait)
        elif agent.fault == faults.LIMIT_DOUBTED:
            resets_at = self._now() + DOUBTED_LIMIT
        cost = self._cost(agent)
        claim = "SHIPPED" if how is Ending.OK else ""
        outcome = AgentOutcome(
            ending=how,
            claim=claim,
            resets_at=resets_at,
            usage=(Usage(model="large", output_tokens=1_000, cost_usd=cost),),
        )
        return effects.AgentResult(
            outcome=outcome,
            exit_code=_exit_code(agent.fault, how),
            seconds=(self.scheduler.now - agent.began) / 1000,
            cost_usd=cost,
        )

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.scheduler.clock.wall_ms() / 1000, UTC)


def _path_in(lane: Region) -> str:
    """Return a path inside the lane."""
    return lane.globs[0].replace("**", "work.txt")


def _exit_code(fault: str, how: Ending) -> int:
    """Return the exit code; an agent that is not installed has that of the launcher."""
    if fault == faults.NOT_INSTALLED:
        return LAUNCH_FAILED
    if how is Ending.OK:
        return 0
    return 1
