"""Works each lane in a repository of its own; proven work lands on the target or a unit branch."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import structs

from dos.config.schema import Config
from dos.errors import MalformedObject
from dos.fleet import effects
from dos.fleet.effect import Performers, performs
from dos.git.repository import Writer
from dos.landing import (
    branch,
    measure,
    provenance,
    rebase,
)
from dos.landing.checks import Checks
from dos.landing.commit_checks import CommitChecks
from dos.landing.gate import FindBaselineFault, LandingGate, UnitEffect
from dos.landing.lane import salvage_writer
from dos.landing.lanes import Lanes
from dos.landing.target import Target
from dos.landing.trees.check_cache import CheckCache
from dos.lease import Lease
from dos.receipts import receipt
from dos.receipts.io import acceptance, draft
from dos.units.unit import Landing, Unit
from dos.workspace import Workspace


class IsolatedLanding:
    """Performs the effects of preparing, measuring, saving and landing work, one tree a lane.

    `branch` names the branch to land on. `raise_if_lease_lost` and `raise_if_halted` guard the
    steps that nobody may take for a lost lease or a stopped run. `find_baseline_fault` tells how
    the tests fail on a commit without any agent's work. `declared_units` are the units of the
    plans that count, whatever is on disk.
    """

    def __init__(  # noqa: PLR0913
        self,
        workspace: Workspace,
        config: Config,
        git: Writer,
        *,
        target: Target,
        branch: Callable[[], str],
        checks: Checks,
        raise_if_lease_lost: Callable[[], None],
        raise_if_halted: Callable[[Lease], None],
        find_baseline_fault: FindBaselineFault,
        declared_units: Callable[[], Sequence[Unit]],
        cache: CheckCache | None = None,
    ) -> None:
        self.workspace = workspace
        self.config = config
        self.workers = config.workers
        self.git = git
        self.target = target
        self.branch = branch
        self.checks = checks
        self.raise_if_lease_lost = raise_if_lease_lost
        self.raise_if_halted = raise_if_halted
        self.declared_units = declared_units
        self.commit_checks = CommitChecks(workspace, config, git, checks, cache)
        self.gate = LandingGate(
            git,
            checks,
            self.commit_checks,
            policy=config.landing,
            workspace=workspace,
            raise_if_halted=raise_if_halted,
            find_baseline_fault=find_baseline_fault,
        )
        self.lanes = Lanes(
            workspace,
            config,
            git,
            target=target,
            branch=branch,
            checks=checks,
            raise_if_lease_lost=raise_if_lease_lost,
        )

    def performers(self) -> Performers:
        """Return the function that performs each effect."""
        rows = (
            performs(effects.PrepareWorktree, self.prepare),
            performs(effects.MeasureWork, self.measure),
            performs(effects.SaveChanges, self.save_changes),
            performs(effects.CommitChanges, self.lanes.commit_changes),
            performs(effects.SaveCommits, self.save_commits),
            performs(effects.PrepareLanding, self.prepare_landing),
            performs(effects.MoveBranch, self.move_branch),
            performs(effects.HasLanded, self.has_landed),
            performs(effects.IssueReceipt, self.issue_receipt),
        )
        return dict(rows)

    @property
    def _lands_on_unit_branches(self) -> bool:
        return self.workers.landing == "branch"

    # The lane; a shared tree has none

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        return self.lanes.prepare(effect)

    def snapshot(self, worktree: effects.Worktree) -> object:
        return self.lanes.snapshot(worktree)

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        return self.lanes.save_changes(effect)

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        return self.lanes.save_commits(effect)

    # Measuring

    def measure(self, effect: effects.MeasureWork) -> effects.Measurement:
        """Measure the commits of a worktree; a missing unit trailer is added where nothing else is.

        Raises Halted when a person has stopped the run.
        """
        self.raise_if_halted(effect.lease)
        refused = self.lanes.refusal(effect.worktree)
        if refused:
            return measure.nothing_measured(effect.worktree.base, refused)
        head = self.lanes.delivered_head(effect.worktree)
        problem = self._history_problem(effect.worktree.base, head)
        if problem:
            return measure.nothing_measured(head, problem)
        measured = measure.measure(
            self.git,
            effect.worktree.base,
            head,
            effect.lease,
            self._acceptance_check(effect),
            self.workspace.prefix,
            shipped_check=partial(self._why_not_shipped, effect, effect.worktree.base),
        )
        is_only_unnamed = measured.why_not_shipped == measure.unnamed_reason(effect.unit)
        if measured.accepted and is_only_unnamed:
            measured = self._with_unit_trailer(effect, measured)
        return self._judged_by_base(effect, measured)

    def _history_problem(self, base: str, head: str) -> str:
        return measure.history_problem(self.git, base, head)

    def _judged_by_base(
        self, effect: effects.MeasureWork, measured: effects.Measurement
    ) -> effects.Measurement:
        """Ask for the evidence that a landing asks for, also of the acceptance command on the base.

        Here, because landings take turns and this need not.
        """
        is_refused = measured.accepted is False or measured.strays or measured.why_not_shipped
        if is_refused or not measured.changed_paths:
            return measured
        base = effect.worktree.base
        before = self.gate.result_before(
            effect, base=base, head=measured.head, after=measured.acceptance_run
        )
        refusal = self.gate.why_not_told_apart(effect, before, base=base, head=measured.head)
        return structs.replace(measured, why_not_shipped=refusal)

    def _with_unit_trailer(
        self, effect: effects.MeasureWork, measured: effects.Measurement
    ) -> effects.Measurement:
        """Add the unit's trailer to accepted work in the lane, instead of discarding the work."""
        base = effect.worktree.base
        if measured.head not in self.unit_commits(effect, base, measured.head):
            return measured
        if self._other_units_named(effect, base, measured.head):
            return measured
        try:
            head = salvage_writer.add_unit_trailer(self.git, measured.head, effect.unit)
        except MalformedObject:  # git accepts no new commit with the headers of this one
            return measured
        if self._why_not_shipped(effect, base, head):
            return measured
        self.lanes.replace_delivered_head(effect.worktree, head)
        commits = self.git.commits_between(base, head)
        return structs.replace(measured, head=head, commits=commits, why_not_shipped="")

    def _why_not_shipped(self, effect: UnitEffect, base: str, head: str) -> str:
        """Return why the commits do not ship the unit alone; a replan has nothing to ship."""
        if effect.is_replan:
            return ""
        reason = measure.why_not_shipped(self.workspace, effect.unit, base=base, head=head)
        return reason or self._other_units_named(effect, base, head)

    def _other_units_named(self, effect: UnitEffect, base: str, head: str) -> str:
        return measure.other_units_named(
            self.workspace,
            effect.unit,
            self.declared_units(),
            commits=self.unit_commits(effect, base, head),
            base=base,
            head=head,
        )

    def unit_commits(self, effect: UnitEffect, base: str, head: str) -> list[str]:
        """Return the commits made for the unit: those that the target does not hold by now."""
        landed = self.target.ref(effect.worktree.target)
        if self.git.commit_of(landed):
            return self.git.commits_between(base, head, landed)
        return self.git.commits_between(base, head)

    def _acceptance_check(self, effect: effects.MeasureWork) -> acceptance.AcceptanceCheck:
        return partial(
            self.commit_checks.run,
            command=self.checks.acceptance(effect.unit),
            lease=effect.lease,
            base=effect.worktree.base,
        )

    # Landing

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        """Rebase the measured commit onto the target and check it there, before the branch moves.

        Another unit may have landed beneath it, so the lane and the tests are checked again.
        """
        newest = self.target.newest(effect.worktree.target)
        head = self._with_provenance(effect)
        self.lanes.replace_delivered_head(effect.worktree, head)
        ready = self._rebased(effect, head, newest)
        if isinstance(ready, effects.NotLanded):
            return ready
        self.lanes.replace_delivered_head(effect.worktree, ready.commit)
        strays = measure.paths_outside_lane(
            self.git, ready.base, ready.commit, effect.lease, self.workspace.prefix
        )
        if strays:
            return effects.NotLanded(
                reason=f"on top of {ready.branch!r} it changes {strays[0]}, outside the lane"
            )
        submodule = self.commit_checks.unpublished_submodule(ready.base, ready.commit)
        if submodule:
            return effects.NotLanded(
                reason=f"no remote of the submodule {submodule} has its commit; push it first"
            )
        if self._lands_on_unit_branches:
            ready = branch.on_unit_branch(effect.lease.lane, ready)
        return self.run_gate(effect, ready)

    def _rebased(
        self, effect: effects.PrepareLanding, head: str, newest: str | None
    ) -> Landing | effects.NotLanded:
        return rebase.prepare_landing(
            self.git,
            self.commit_checks.trees,
            effect.unit.name,
            effect.worktree,
            head,
            newest=newest,
        )

    def _with_provenance(self, effect: effects.PrepareLanding) -> str:
        """Return the measured head with trailers that name the agent, the model and the run.

        The head itself, where with them git would no longer show this unit alone.
        """
        if effect.provenance is None:
            return effect.head
        commits = self.unit_commits(effect, effect.worktree.base, effect.head)
        head = provenance.add_provenance(self.git, effect.head, commits, effect.provenance)
        if self._why_not_shipped(effect, effect.worktree.base, head):
            return effect.head
        return head

    def run_gate(
        self, effect: effects.PrepareLanding, ready: Landing
    ) -> Landing | effects.NotLanded:
        """Run the tests on the commit to land, and return the landing with its drafted receipt."""
        commits = self.unit_commits(effect, ready.base, ready.commit)
        return self.gate.judge(effect, ready, commits, partial(self._why_not_shipped, effect))

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        """Move the target branch or the unit's branch to the landing, under the lease's fence."""
        lane = effect.lease.lane
        fence = effect.lease.fence
        if self._lands_on_unit_branches:
            return branch.move_unit_branch(self.git, lane=lane, fence=fence, landing=effect.landing)
        return self.target.move(effect.landing, lane=lane, fence=fence)

    def has_landed(self, effect: effects.HasLanded) -> bool:
        """Whether the branch that the landing was meant for contains its commit."""
        if self._lands_on_unit_branches:
            return branch.has_landed(self.git, effect.landing)
        return self.target.has_landed(effect.landing)

    def issue_receipt(self, effect: effects.IssueReceipt) -> receipt.IssuedReceipt:
        """Sign and store the receipt of a landing; the message says if this clone is behind."""
        if self._lands_on_unit_branches:
            ref = f"refs/heads/{effect.landing.branch}"
        else:
            ref = self.target.ref(effect.landing.branch)
        issued = draft.issue_receipt(self.git, self.workspace, effect.landing, ref=ref)
        messages = (issued.message, self.target.stays_behind)
        return structs.replace(issued, message="; ".join(filter(None, messages)))
