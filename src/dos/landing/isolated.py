"""Works each lane in its own worktree; proven work lands on the target branch or a unit branch."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import structs

from dos import regions
from dos.agents.io import environment
from dos.config.schema import Config
from dos.errors import Halted, MalformedObject, NotReady
from dos.fleet import effects
from dos.fleet.effect import Performers, performs
from dos.git.repository import Writer
from dos.journal.events.limits import BaselineChecked
from dos.landing import (
    branch,
    measure,
    provenance,
    rebase,
    salvage_writer,
    worktree,
    worktree_files,
)
from dos.landing.checks import Checks
from dos.landing.target import Target
from dos.lease import Lease
from dos.receipts import receipt
from dos.receipts.io import acceptance, draft
from dos.text import join_some
from dos.units.unit import Landing, Unit
from dos.workspace import Workspace

# The effects that judge the commits of a unit.
UnitEffect = effects.MeasureWork | effects.PrepareLanding


class IsolatedLanding:
    """Performs the effects of preparing, measuring, saving and landing work, one worktree a lane.

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
        find_baseline_fault: Callable[[str, str, Lease], BaselineChecked | None],
        declared_units: Callable[[], Sequence[Unit]],
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
        self.find_baseline_fault = find_baseline_fault

    def performers(self) -> Performers:
        """Return the function that performs each effect."""
        rows = (
            performs(effects.PrepareWorktree, self.prepare),
            performs(effects.MeasureWork, self.measure),
            performs(effects.SaveChanges, self.save_changes),
            performs(effects.CommitChanges, self.commit_changes),
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

    # The worktree

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        """Return a clean worktree at the target's head, set up for work; NotReady if it cannot be.

        A setup that fails leaves the tree clean: what it wrote is nobody's work.
        """
        target = self.branch()
        made = worktree.prepare(
            self.git,
            self.workspace.state,
            lane=effect.lane,
            run_id=effect.run_id,
            target=target,
            worktrees=self.workspace.worktrees,
            base=self.target.newest(target),
        )
        inside = Writer(Path(made.path))
        problem = self._check_out_submodules(inside)
        if not made.ready:
            self._run_setup(inside, made, effect.lease)
            if problem:
                # The user's setup may know better where to get the submodules.
                problem = self._check_out_submodules(inside)
        if problem:
            hint = f"Try: git -C {self.git.tree} submodule update --init --recursive"
            raise NotReady(f"{problem}. {hint}", hint=hint)
        if not made.ready:
            made = self._mark_ready(inside, made)
        if not self._lands_on_unit_branches:
            # Landings on one branch take turns; unit branches need no queue.
            made = structs.replace(made, queue=target)
        return self._with_saved_work(effect, made)

    def _run_setup(self, inside: Writer, made: effects.Worktree, lease: Lease) -> None:
        seconds = self.workers.setup_seconds
        try:
            setup = self.checks.run(inside.tree, self.workers.setup, lease, seconds)
        except Halted:
            worktree.clear(inside, made.base)
            raise
        if setup.passed is False:
            # A setup that took long may have outlived the lease, and the tree with it.
            self.raise_if_lease_lost()
            worktree.clear(inside, made.base)
            raise NotReady(
                f"the setup command failed: {setup.detail}", hint="[workers] setup in dos.toml"
            )

    def _mark_ready(self, inside: Writer, made: effects.Worktree) -> effects.Worktree:
        visible = worktree.mark_ready(inside)
        if not visible:
            return made
        warning = (
            "the setup writes files that .gitignore does not name, so it runs before each unit: "
            f"{join_some(visible)}"
        )
        return structs.replace(
            made, missing_files="; ".join(filter(None, (made.missing_files, warning)))
        )

    def _check_out_submodules(self, inside: Writer) -> str:
        git_folder = self.workspace.common or self.workspace.state
        return worktree_files.check_out_submodules(inside, git_folder / "modules")

    def _with_saved_work(
        self, effect: effects.PrepareWorktree, made: effects.Worktree
    ) -> effects.Worktree:
        """Lay the saved changes of the last attempt out in the tree, where they still fit."""
        if not effect.saved_commit:
            return made
        is_inside = partial(regions.lane_holds, effect.lease.region, root=self.workspace.prefix)
        inside = Writer(Path(made.path))
        if salvage_writer.lay_out_saved(
            inside, effect.saved_commit, base=made.base, is_inside=is_inside
        ):
            return structs.replace(made, resumed=effect.saved_commit)
        return made

    # Measuring

    def measure(self, effect: effects.MeasureWork) -> effects.Measurement:
        """Measure the commits of a worktree; a missing unit trailer is added where nothing else is.

        Raises Halted when a person has stopped the run.
        """
        self.raise_if_halted(effect.lease)
        measured = measure.measure(
            effect.worktree,
            effect.lease,
            self._acceptance_check(effect),
            self.workspace.prefix,
            shipped_check=partial(self._why_not_shipped, effect, effect.worktree.base),
        )
        is_only_unnamed = measured.why_not_shipped == measure.unnamed_reason(effect.unit)
        if measured.accepted and is_only_unnamed:
            return self._with_unit_trailer(effect, measured)
        return measured

    def _with_unit_trailer(
        self, effect: effects.MeasureWork, measured: effects.Measurement
    ) -> effects.Measurement:
        """Add the unit's trailer to accepted work in the lane, instead of discarding the work."""
        inside = Writer(Path(effect.worktree.path))
        base = effect.worktree.base
        if measured.head not in self.unit_commits(effect, base, measured.head):
            return measured
        if self._other_units_named(effect, base, measured.head):
            return measured
        try:
            head = salvage_writer.add_unit_trailer(inside, measured.head, effect.unit)
        except MalformedObject:  # git accepts no new commit with the headers of this one
            return measured
        if self._why_not_shipped(effect, base, head):
            return measured
        worktree.clear(inside, head)
        commits = inside.commits_between(base, head)
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
        inside = Writer(Path(effect.worktree.path))
        landed = self.target.ref(effect.worktree.target)
        if inside.commit_of(landed):
            return inside.commits_between(base, head, landed)
        return inside.commits_between(base, head)

    def _acceptance_check(self, effect: effects.MeasureWork) -> acceptance.AcceptanceCheck:
        command = self.checks.acceptance(effect.unit)
        return partial(self.checks.run, command=command, lease=effect.lease)

    # Saving

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        """Save uncommitted changes to a ref and clear the tree to its head."""
        inside = Writer(Path(effect.worktree.path))
        return worktree.save_changes(
            inside,
            self.workspace.state,
            run_id=effect.run_id,
            why="left by the agent",
            base=effect.worktree.base,
        )

    def commit_changes(self, effect: effects.CommitChanges) -> str:
        """Commit saved changes for the unit; empty where no acceptance command could judge them."""
        inside = Writer(Path(effect.worktree.path))
        saved = effect.saved.commit
        strays = measure.paths_outside_lane(
            inside, effect.worktree.base, saved, effect.lease, self.workspace.prefix
        )
        if strays or not self.checks.acceptance(effect.unit):
            return ""
        identity = environment.git_identity(os.environ, self.workspace.root)
        return salvage_writer.commit_saved(inside, saved, effect.unit, identity)

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        """Save commits that did not land to a ref; what acceptance and tests wrote is cleared."""
        inside = Writer(Path(effect.worktree.path))
        worktree.clear(inside, "HEAD")
        if effect.committed_by_dos and inside.commit_of("HEAD") == effect.committed_by_dos:
            # dos made this commit of files that a ref holds already.
            worktree.clear(inside, effect.worktree.base)
            return []
        landed = inside.commit_of(self.target.ref(effect.worktree.target)) or effect.worktree.base
        return worktree.save_commits(inside, run_id=effect.run_id, why="did not land", base=landed)

    # Landing

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        """Rebase the measured commit onto the target and check it there, before the branch moves.

        Another unit may have landed beneath it, so the lane and the tests are checked again.
        """
        newest = self.target.newest(effect.worktree.target)
        head = self._with_provenance(effect)
        ready = rebase.prepare_landing(effect.unit.name, effect.worktree, head, newest=newest)
        if isinstance(ready, effects.NotLanded):
            return ready
        inside = Writer(Path(effect.worktree.path))
        strays = measure.paths_outside_lane(
            inside, ready.base, ready.commit, effect.lease, self.workspace.prefix
        )
        if strays:
            return effects.NotLanded(
                reason=f"on top of {ready.branch!r} it changes {strays[0]}, outside the lane"
            )
        submodule = worktree.unpublished_submodule(inside, ready.base, ready.commit)
        if submodule:
            return effects.NotLanded(
                reason=f"no remote of the submodule {submodule} has its commit; push it first"
            )
        if self._lands_on_unit_branches:
            ready = branch.on_unit_branch(effect.lease.lane, ready)
        return self.run_gate(effect, ready, inside)

    def _with_provenance(self, effect: effects.PrepareLanding) -> str:
        """Return the measured head with trailers that name the agent, the model and the run.

        The head itself, where with them git would no longer show this unit alone.
        """
        if effect.provenance is None:
            return effect.head
        inside = Writer(Path(effect.worktree.path))
        commits = self.unit_commits(effect, effect.worktree.base, effect.head)
        head = provenance.add_provenance(inside, effect.head, commits, effect.provenance)
        if self._why_not_shipped(effect, effect.worktree.base, head):
            return effect.head
        return head

    def run_gate(
        self, effect: effects.PrepareLanding, ready: Landing, inside: Writer
    ) -> Landing | effects.NotLanded:
        """Run the tests on the commit to land, and return the landing with its drafted receipt."""
        was_rebased = ready.base != effect.worktree.base
        command = self.checks.landing_command(effect.unit, rerun_acceptance=was_rebased)
        gate = self.checks.run(inside.tree, command, effect.lease)
        if gate.passed is False:
            return self._tests_failed(effect, ready, gate.detail)
        if was_rebased:
            reason = self._why_not_shipped(effect, ready.base, ready.commit)
            if reason:
                return effects.NotLanded(
                    reason=f"on top of {ready.branch!r} git does not show it: {reason}"
                )
        self.raise_if_halted(effect.lease)  # the last moment to stop a landing
        # After a rebase, the gate has run the acceptance command again.
        accepted = None if was_rebased else effect.acceptance_run
        drafted = draft.draft_receipt(
            inside,
            ready,
            lane=effect.lease.region,
            region_root=self.workspace.prefix,
            runs=[run for run in (accepted, gate.run) if run],
            declared=self.checks.declared_commands(effect.unit),
        )
        return structs.replace(ready, receipt=drafted)

    def _tests_failed(
        self, effect: effects.PrepareLanding, ready: Landing, detail: str
    ) -> effects.NotLanded:
        """Refuse the landing, and tell apart work that is red from a branch that was red before."""
        reason = f"the tests fail on top of {ready.branch!r}: {detail}"
        fault = self.find_baseline_fault(ready.base, effect.worktree.target, effect.lease)
        if fault is None:
            return effects.NotLanded(reason=reason)
        return effects.NotLanded(
            reason=f"{reason}; they fail on it without this work too",
            baseline_failure=fault,
            landing=ready,
        )

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
