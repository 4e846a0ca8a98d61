"""Each lane in a worktree of its own; what is proven there lands on the target branch, or on one for a pull request."""

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
from dos.landing import branch as landing
from dos.landing import measure as measuring
from dos.landing import measure as proving
from dos.landing import salvage, worktree, worktree_files
from dos.landing.checks import Checks
from dos.landing.target import Target
from dos.lease import Lease
from dos.receipts import receipt
from dos.receipts.io import acceptance, draft
from dos.text import join_some
from dos.units.unit import Landing, Unit
from dos.workspace import Workspace


class IsolatedLanding:
    def __init__(
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
        self.branch = branch  # that is landed on
        self.checks = checks
        self.raise_if_lease_lost = (
            raise_if_lease_lost  # raises when the lease is not surely ours any more
        )
        self.raise_if_halted = raise_if_halted  # raises when a person has stopped the run
        self.declared_units = (
            declared_units  # the units of the plans that count, whatever is on disk
        )
        self.find_baseline_fault = find_baseline_fault  # how the tests fail without the work too

    def performers(self) -> Performers:
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

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        branch = self.branch()
        made = worktree.prepare(
            self.git,
            self.workspace.state,
            lane=effect.lane,
            run_id=effect.run_id,
            target=branch,
            worktrees=self.workspace.worktrees,
            base=self.target.newest(branch),
        )
        inside = Writer(Path(made.path))
        problem = self._check_out_submodules(inside)
        if not made.ready:
            try:
                setup = self.checks.run(
                    inside.tree, self.workers.setup, effect.lease, self.workers.setup_seconds
                )
            except Halted:
                worktree.clear(inside, made.base)
                raise
            if setup.passed is False:
                self.raise_if_lease_lost()  # it may have taken long, and then the tree is another's
                worktree.clear(inside, made.base)  # what it left is nobody's work
                raise NotReady(
                    f"the setup command failed: {setup.detail}", hint="[workers] setup in dos.toml"
                )
            # A setup of the user's may know better where they are to be had.
            problem = problem and self._check_out_submodules(inside)
        if problem:
            hint = f"Try: git -C {self.git.tree} submodule update --init --recursive"
            raise NotReady(f"{problem}. {hint}", hint=hint)
        if not made.ready and (loose := worktree.mark_ready(inside)):
            told = f"the setup makes files that .gitignore does not name, so it runs before each unit: {join_some(loose)}"
            made = structs.replace(
                made, missing_files="; ".join(filter(None, (made.missing_files, told)))
            )
        takes_turns = self.workers.landing != "branch"  # else each unit has a branch of its own
        made = structs.replace(made, queue=branch if takes_turns else "")
        return self._with_saved_work(effect, made)

    def _check_out_submodules(self, inside: Writer) -> str:
        return worktree_files.check_out_submodules(
            inside, (self.workspace.common or self.workspace.state) / "modules"
        )

    def _with_saved_work(
        self, effect: effects.PrepareWorktree, made: effects.Worktree
    ) -> effects.Worktree:
        is_inside = partial(regions.lane_holds, effect.lease.region, root=self.workspace.prefix)
        if effect.saved_commit and salvage.lay_out_saved(
            Writer(Path(made.path)), effect.saved_commit, base=made.base, is_inside=is_inside
        ):
            return structs.replace(made, resumed=effect.saved_commit)
        return made

    def measure(self, effect: effects.MeasureWork) -> effects.Measurement:
        self.raise_if_halted(effect.lease)
        doubt = partial(self._why_not_shipped, effect, effect.worktree.base)
        found = measuring.measure(
            effect.worktree,
            effect.lease,
            self._acceptance_check(effect),
            self.workspace.prefix,
            doubt=doubt,
        )
        is_only_unnamed = found.accepted and found.why_not_shipped == proving.unnamed_reason(
            effect.unit
        )
        return self._with_unit_trailer(effect, found) if is_only_unnamed else found

    def _with_unit_trailer(
        self, effect: effects.MeasureWork, found: effects.Measurement
    ) -> effects.Measurement:
        """Work that its acceptance command takes and that lies in the lane is not thrown away for want of a trailer."""
        inside, base = Writer(Path(effect.worktree.path)), effect.worktree.base
        if found.head not in self.unit_commits(effect, base, found.head) or self._other_units_named(
            effect, base, found.head
        ):
            return found
        try:
            head = salvage.add_unit_trailer(inside, found.head, effect.unit)
        except MalformedObject:  # no commit can be made with what stands in this one
            return found
        if self._why_not_shipped(effect, base, head):
            return found
        worktree.clear(inside, head)
        return structs.replace(
            found, head=head, commits=inside.commits_between(base, head), why_not_shipped=""
        )

    def _why_not_shipped(
        self, effect: effects.MeasureWork | effects.PrepareLanding, base: str, head: str
    ) -> str:
        """Why the commits do not show the unit, or show more than it; of a replan nothing is to be shown."""
        if effect.is_replan:
            return ""
        if why := proving.why_not_shipped(self.workspace, effect.unit, base=base, head=head):
            return why
        return self._other_units_named(effect, base, head)

    def _other_units_named(
        self, effect: effects.MeasureWork | effects.PrepareLanding, base: str, head: str
    ) -> str:
        commits = self.unit_commits(effect, base, head)
        return proving.other_units_named(
            self.workspace,
            effect.unit,
            self.declared_units(),
            commits=commits,
            base=base,
            head=head,
        )

    def unit_commits(
        self, effect: effects.MeasureWork | effects.PrepareLanding, base: str, head: str
    ) -> list[str]:
        """Those from a base to a head that were made for the unit: what the target holds by now is others'."""
        inside, held = Writer(Path(effect.worktree.path)), self.target.ref(effect.worktree.target)
        return inside.commits_between(base, head, *([held] if inside.commit_of(held) else []))

    def _acceptance_check(self, effect: effects.MeasureWork) -> acceptance.AcceptanceCheck:
        return partial(
            self.checks.run, command=self.checks.acceptance(effect.unit), lease=effect.lease
        )

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        inside = Writer(Path(effect.worktree.path))
        return worktree.save_changes(
            inside,
            self.workspace.state,
            run_id=effect.run_id,
            why="left uncommitted",
            base=effect.worktree.base,
        )

    def commit_changes(self, effect: effects.CommitChanges) -> str:
        inside, saved = Writer(Path(effect.worktree.path)), effect.saved.commit
        strays = measuring.paths_outside_lane(
            inside, effect.worktree.base, saved, effect.lease, self.workspace.prefix
        )
        if strays or not self.checks.acceptance(effect.unit):
            return ""
        return salvage.commit_saved(
            inside, saved, effect.unit, environment.git_identity(os.environ, self.workspace.root)
        )

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        inside = Writer(Path(effect.worktree.path))
        worktree.clear(inside, "HEAD")  # what acceptance and tests left is nobody's work
        if effect.committed_by_dos and inside.commit_of("HEAD") == effect.committed_by_dos:
            worktree.clear(inside, effect.worktree.base)
            return []  # its files are on the ref that it was made of
        landed = inside.commit_of(self.target.ref(effect.worktree.target)) or effect.worktree.base
        return worktree.save_commits(inside, run_id=effect.run_id, why="did not land", base=landed)

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        newest = self.target.newest(effect.worktree.target)
        ready = landing.prepare_landing(
            effect.unit.name, effect.worktree, effect.head, newest=newest
        )
        if isinstance(ready, effects.NotLanded):
            return ready
        # On what will stand on the branch: another unit may have landed beneath this one.
        inside = Writer(Path(effect.worktree.path))
        if strays := measuring.paths_outside_lane(
            inside, ready.base, ready.commit, effect.lease, self.workspace.prefix
        ):
            return effects.NotLanded(
                reason=f"on top of {ready.branch!r} it changes {strays[0]}, outside of the lane"
            )
        if alone := worktree.unpublished_submodule(inside, ready.base, ready.commit):
            return effects.NotLanded(
                reason=f"the commit of the submodule {alone} is in no remote of it; push it first"
            )
        if self.workers.landing == "branch":
            ready = landing.on_unit_branch(effect.lease.lane, ready)
        return self.run_gate(effect, ready, inside)

    def run_gate(
        self, effect: effects.PrepareLanding, ready: Landing, inside: Writer
    ) -> Landing | effects.NotLanded:
        """With the receipt drafted from what was checked, unless the workspace's tests say no."""
        moved = ready.base != effect.worktree.base
        gate = self.checks.run(
            inside.tree,
            self.checks.landing_command(effect.unit, rerun_acceptance=moved),
            effect.lease,
        )
        if gate.passed is False:
            return self._tests_failed(effect, ready, gate.detail)
        if moved and (why := self._why_not_shipped(effect, ready.base, ready.commit)):
            return effects.NotLanded(
                reason=f"on top of {ready.branch!r} git does not show it: {why}"
            )
        self.raise_if_halted(effect.lease)  # what has not landed by now does not land
        accepted = None if moved else effect.acceptance_run  # else it was run again with the tests
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
        """Whose fault it is that the tests fail: the work's, or that of whatever surrounds it."""
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
        lane, fence = effect.lease.lane, effect.lease.fence
        if self.workers.landing == "branch":
            return landing.move_unit_branch(
                self.git, lane=lane, fence=fence, landing=effect.landing
            )
        return self.target.move(effect.landing, lane=lane, fence=fence)

    def has_landed(self, effect: effects.HasLanded) -> bool:
        if self.workers.landing == "branch":
            return landing.has_landed(self.git, effect.landing)
        return self.target.has_landed(effect.landing)

    def issue_receipt(self, effect: effects.IssueReceipt) -> receipt.IssuedReceipt:
        branch = effect.landing.branch
        ref = (
            f"refs/heads/{branch}" if self.workers.landing == "branch" else self.target.ref(branch)
        )
        issued = draft.issue_receipt(self.git, self.workspace, effect.landing, ref=ref)
        said = "; ".join(filter(None, (issued.message, self.target.stays_behind)))
        return structs.replace(issued, message=said)
