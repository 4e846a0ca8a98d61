"""How a simulated worker measures, checks, saves and lands, by the product's own landing code.

IsolatedLanding, Lanes and LandingGate decide; the model answers what git, the acceptance commands
and the oracle would show. A unit's acceptance command passes on a commit that has the unit's work,
unless that is wrong; of some units it passes without any work, too.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dos.fleet import effects
from dos.landing.checks import Checks
from dos.landing.commit_checks import BaseResult, CommitChecks
from dos.landing.gate import LandingGate, UnitEffect
from dos.landing.guard.judging_files import JudgingFiles
from dos.landing.guard.tests_guard import TestsGuard, may_change_tests
from dos.landing.isolated import IsolatedLanding
from dos.landing.lanes import Lanes
from dos.landing.target import LocalTarget
from dos.landing.trees.check_cache import CheckCache, CheckSubject
from dos.landing.trees.check_tree import CheckTree
from dos.landing.trees.check_trees import CheckTrees
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceResult
from dos.receipts.receipt import CommandRun, IssuedReceipt
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.lane import SimulatedGit, SimulatedLane
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.repository import TARGET
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.workspace import unit_of_check
from dos.units.unit import Landing
from dos.verify.policy import Policy

WEAKENING = 0.25  # share of the landings, in worlds with more questions
TIME = "2023-11-14T22:13:20Z"  # at which every command begins and ends
UNNAMED = "no commit names it"
RESULTS = {
    passed: AcceptanceResult(
        passed=passed,
        detail="" if passed else "it failed",
        run=CommandRun(
            script="", exit_code=0 if passed else 1, output_digest="", started=TIME, ended=TIME
        ),
    )
    for passed in (True, False)
}


class SimulatedLanding(IsolatedLanding):
    """Performs a worker's effects on its lane and the target branch, as the product does."""

    def __init__(
        self, site: Site, process: Process, raise_if_halted: Callable[[Lease], None]
    ) -> None:
        self.site = site
        git = SimulatedGit(site)
        self.git = git
        self._may_die = git.may_die
        self.config = site.workspace.config
        self.workers = self.config.workers
        self.target = LocalTarget(git)
        self.raise_if_halted = raise_if_halted
        self.checks = checks = SimulatedChecks(site)
        self.commit_checks = SimulatedCommitChecks(site, git, checks)
        self.gate = SimulatedGate(site, git, checks, self.commit_checks, raise_if_halted)
        self.lanes = SimulatedLanes(site, process, git, checks)
        self.workspace = site.folders

    def issue_receipt(self, effect: effects.IssueReceipt) -> IssuedReceipt:
        """Issue the receipt as it was drafted: signing is not simulated."""
        return IssuedReceipt(receipt=effect.landing.receipt, message="simulated")

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        """Move the branch under the fence; git, or git and its worker, may die on both sides."""
        self._may_die()
        lease = effect.lease
        refused = self.site.repository.move(lease.lane, lease.fence, effect.landing)
        self._may_die()
        return refused

    def has_landed(self, effect: effects.HasLanded) -> bool:
        return effect.landing.commit in self.site.repository.on_target

    def _history_problem(self, base: str, head: str) -> str:
        if self.git.is_ancestor(base, head):
            return ""
        return "HEAD no longer contains the base commit"

    def _rebased(
        self, effect: effects.PrepareLanding, head: str, newest: str | None
    ) -> Landing | effects.NotLanded:
        commit = self.site.repository.rebase(effect.worktree.base, head)
        return Landing(unit=effect.unit.name, branch=TARGET, base=newest or "", commit=commit)

    def _with_provenance(self, effect: effects.PrepareLanding) -> str:
        return effect.head

    def _why_not_shipped(self, effect: UnitEffect, base: str, head: str) -> str:
        """Return why the commits do not ship the unit alone, in place of the oracle."""
        if effect.is_replan:
            return ""
        names: set[str] = set()
        for commit in self.git.commits_between(base, head):
            names.update(self.site.repository.commits[commit].units)
        if effect.unit.name not in names:
            return UNNAMED
        return self.others_named(names - {effect.unit.name})

    def others_named(self, others: set[str]) -> str:
        """Return why commits that name other units are refused; "" if there are none."""
        if not others:
            return ""
        return f"it names {min(others)}"


class SimulatedLanes(Lanes):
    """The lanes of one worker; setup, submodules and copied files are not simulated."""

    def __init__(self, site: Site, process: Process, git: SimulatedGit, checks: Checks) -> None:
        super().__init__(
            site.folders,
            site.workspace.config,
            git,
            target=LocalTarget(git),
            branch=lambda: TARGET,
            checks=checks,
            raise_if_lease_lost=lambda: None,
        )
        self._site = site
        self._simulated_git = git
        self._host = process.host.name

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        """Save what an earlier run left in the lane, and bring the lane to the target branch."""
        path = f"{self._host}/{effect.lane}"
        lane = SimulatedLane(self._site, self._simulated_git, path)
        self._lanes[path] = lane
        base = self._site.repository.target
        salvaged = lane.prepare(base, run_id=effect.run_id)
        return effects.Worktree(
            path=path, target=TARGET, base=base, salvaged=salvaged, queue=TARGET
        )

    def _join_packs(self) -> None:
        """Do nothing: the model has no packs."""

    def commit_changes(self, effect: effects.CommitChanges) -> str:  # noqa: ARG002
        """Commit nothing: what simulated agents leave uncommitted is never acceptable."""
        return ""


class SimulatedChecks(Checks):
    """Says which commands have to pass; none of them is started."""

    sandbox = "simulated"

    def __init__(self, site: Site) -> None:
        self._workers = site.workspace.config.workers


class SimulatedTrees(CheckTrees):
    """Check trees without files."""

    def __init__(self) -> None:
        """Have no folder."""

    def digest(self, commit: str) -> str:  # noqa: ARG002
        return ""


class SimulatedTree(CheckTree):
    """A commit on which commands can be run."""

    def __init__(self, site: Site, commit: str) -> None:
        self._site = site
        self._commit = commit

    def run(self, command: str, seconds: float | None = None) -> AcceptanceResult:  # noqa: ARG002
        return RESULTS[self._site.passes(unit_of_check(command), self._commit)]


class SimulatedCommitChecks(CommitChecks):
    """Runs commands on the model's commits; what is remembered, and for what, is the product's."""

    def __init__(self, site: Site, git: SimulatedGit, checks: Checks) -> None:
        self.trees = SimulatedTrees()
        self._site = site
        self._git = git
        self._checks = checks
        self._cache = CheckCache()

    def run_in_tree(
        self,
        commit: str,
        lease: Lease,  # noqa: ARG002
        act: Callable[[CheckTree], AcceptanceResult],
        *,
        base: str = "",  # noqa: ARG002
    ) -> AcceptanceResult:
        return act(SimulatedTree(self._site, commit))

    def run_on_base(
        self, base: str, command: str, lease: Lease, *, after: CommandRun | None = None
    ) -> BaseResult | None:
        before = super().run_on_base(base, command, lease, after=after)
        if before and before.is_green:
            self._site.scheduler.counts[faults.GREEN_BEFORE] += 1
        return before

    def subject(self, commit: str, command: str) -> CheckSubject:
        """Return what a result depends on; in the model a commit stands for its tree."""
        return CheckSubject(
            host="", command=command, tree=commit, setup="", environment="", sandbox=""
        )


class SimulatedGuard(TestsGuard):
    """Finds that work weakens tests, by a fault."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def refusal(
        self,
        effect: effects.PrepareLanding,
        ready: Landing,
        commits: Sequence[str],  # noqa: ARG002
    ) -> effects.NotLanded | None:
        if may_change_tests(effect) or not self._site.draws_question(WEAKENING):
            return None
        self._site.scheduler.counts[faults.TESTS_CHANGED] += 1
        return effects.NotLanded(reason=faults.TESTS_CHANGED, tests_changed=True, landing=ready)

    def base_refusal(self, *_args: object, **_named: object) -> effects.NotLanded | None:
        return None

    def judging_files(self, *_args: object, **_named: object) -> JudgingFiles:
        return JudgingFiles()


class SimulatedGate(LandingGate):
    """The last checks before a landing; a receipt says only what decides about belief."""

    def __init__(
        self,
        site: Site,
        git: SimulatedGit,
        checks: Checks,
        commit_checks: CommitChecks,
        raise_if_halted: Callable[[Lease], None],
    ) -> None:
        super().__init__(
            git,
            checks,
            commit_checks,
            policy=site.lane_faults.landing_policy,
            workspace=site.folders,
            raise_if_halted=raise_if_halted,
            find_baseline_fault=lambda _commit, _branch, _lease: None,
        )
        self._tests_guard = SimulatedGuard(site)
        self._required_policy = site.lane_faults.required_policy

    def _required(self, base: str, head: str) -> Policy:  # noqa: ARG002
        return self._required_policy

    def _draft(
        self,
        effect: effects.PrepareLanding,
        ready: Landing,
        runs: Sequence[CommandRun],  # noqa: ARG002
        before: BaseResult | None,
    ) -> dict[str, Any] | None:
        return {"tells_apart": self._circumstances(effect, ready, before).tells_apart}
