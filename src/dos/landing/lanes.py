"""The lanes of one worker: prepared for each unit, watched, and their work saved."""

import os
from collections.abc import Callable
from functools import partial

from dos import regions
from dos.agents.io import environment
from dos.agents.io.home import KEPT_INDEX
from dos.config.schema import Config
from dos.errors import GitFailed, Halted, NotReady
from dos.fleet import effects
from dos.git import partial_clone
from dos.git.repository import Writer
from dos.handover.io.repack import join_packs
from dos.landing import measure
from dos.landing.checks import Checks
from dos.landing.lane import salvage_writer
from dos.landing.lane.inside import LaneFailed
from dos.landing.lane.repository import HandOverRefused, LaneRepository
from dos.landing.target import Target
from dos.landing.trees import worktree_files
from dos.lease import Lease
from dos.text import join_some
from dos.workspace import Workspace


class Lanes:
    """Performs the effects that touch a lane: prepare it, take over and save what it has.

    `branch` names the branch to land on. `raise_if_lease_lost` guards what nobody may do for a
    lost lease.
    """

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
    ) -> None:
        self.workspace = workspace
        self.workers = config.workers
        self.git = git
        self.target = target
        self.branch = branch
        self.checks = checks
        self.raise_if_lease_lost = raise_if_lease_lost
        self._lanes: dict[str, LaneRepository] = {}  # by their folders
        self._refused: dict[str, str] = {}  # why the last hand-over was, by the lane's folder

    # Before and while an agent works

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        """Return the lane's tree, clean and set up for work; NotReady if it cannot be.

        A setup that fails leaves the tree clean: what it wrote is nobody's work.
        """
        target = self.branch()
        base = self._target_commit(target)
        partial_clone.fetch_missing(self.git, base)
        lane = self._open_lane(effect, target)
        salvaged = self._reset(lane, base, effect.run_id)
        left_out = worktree_files.copy_included_files(self.git, lane.inside).left_out
        warnings = [f"not copied: {join_some(left_out)}"] if left_out else []
        problem = self._check_out_submodules(lane)
        is_ready = lane.is_ready and not problem
        if not is_ready:
            self._run_setup(lane, base, effect.lease)
            if problem:
                # The user's setup may know better where to get the submodules.
                problem = self._check_out_submodules(lane)
        if problem:
            hint = f"Try: git -C {self.git.tree} submodule update --init --recursive"
            raise NotReady(f"{problem}. {hint}", hint=hint)
        if not is_ready:
            warnings += self._mark_ready(lane)
        resumed = ""
        if effect.saved_commit and self._lay_out_saved(lane, effect, base):
            resumed = effect.saved_commit
        return effects.Worktree(
            path=str(lane.folder),
            target=target,
            base=base,
            salvaged=salvaged,
            missing_files="; ".join(warnings),
            resumed=resumed,
            # Landings on one branch take turns; unit branches need no queue.
            queue="" if self.workers.landing == "branch" else target,
        )

    def _reset(self, lane: LaneRepository, base: str, run_id: str) -> list[effects.Salvage]:
        """Bring the lane to a commit; NotReady if git says that it cannot be checked out."""
        try:
            return lane.prepare(base, run_id=run_id)
        except LaneFailed as error:
            if not error.says_why:
                raise
            hint = "Try: dos doctor"
            what = f"{base[:9]} cannot be checked out"
            raise NotReady(f"{what}: {error.message}. {hint}", hint=hint) from error

    def _target_commit(self, target: str) -> str:
        base = self.target.newest(target)
        if base == "":
            base = self.git.commit_of(f"refs/heads/{target}")
        if base is None:
            raise GitFailed(
                f"the target branch {target!r} has no commit",
                hint=f"Commit something first: git -C {self.git.tree} commit",
            )
        return base

    def _open_lane(self, effect: effects.PrepareWorktree, target: str) -> LaneRepository:
        variables = self.checks.git_environment(effect.lease)
        lane = LaneRepository(
            self.workspace,
            self.git,
            effect.lane,
            branch=target,
            environment=variables,
            identity=environment.git_identity(os.environ, self.workspace.root),
            walls=partial(self.checks.git_walls, lease=effect.lease),
        )
        lane.kept_index = f"{variables['HOME']}/{KEPT_INDEX}"
        self._lanes[str(lane.folder)] = lane
        return lane

    def _run_setup(self, lane: LaneRepository, base: str, lease: Lease) -> None:
        seconds = self.workers.setup_seconds
        try:
            setup = self.checks.run(lane.folder, self.workers.setup, lease, seconds)
        except Halted:
            lane.clear(base)
            raise
        if setup.passed is False:
            # A setup that took long may have outlived the lease, and the tree with it.
            self.raise_if_lease_lost()
            lane.clear(base)
            raise NotReady(
                f"the setup command failed: {setup.detail}", hint="[workers] setup in dos.toml"
            )

    def _mark_ready(self, lane: LaneRepository) -> list[str]:
        """Record that the setup has run; return a warning where it makes files that git sees."""
        visible = lane.mark_ready()
        if not visible:
            return []
        rule = "the setup writes files that .gitignore does not name, so it runs before each unit"
        return [f"{rule}: {join_some(visible)}"]

    def _check_out_submodules(self, lane: LaneRepository) -> str:
        git_folder = self.workspace.common or self.workspace.state
        return worktree_files.check_out_submodules(lane.inside, git_folder / "modules")

    def _lay_out_saved(
        self, lane: LaneRepository, effect: effects.PrepareWorktree, base: str
    ) -> bool:
        """Lay the saved changes of the last attempt out in the tree, where they still fit."""
        is_inside = partial(regions.lane_holds, effect.lease.region, root=self.workspace.prefix)
        return salvage_writer.lay_out_saved(
            self.git, lane.inside, effect.saved_commit, base=base, is_inside=is_inside
        )

    def snapshot(self, worktree: effects.Worktree) -> object:
        """Return a value that changes with the agent's commits and files, while it works.

        Its commits are taken over, so that everybody can see its progress.
        """
        lane = self._lanes[worktree.path]
        with_files = self.workers.idle_seconds is not None
        try:
            claims = lane.take_over_progress(worktree.base, with_files=with_files)
        except GitFailed as error:
            return error.message  # the hand-over after its end will tell what is wrong
        return claims.head, claims.state

    # What it delivered

    def delivered_head(self, made: effects.Worktree) -> str:
        """Return the commit that the lane's agent has delivered; its base, where it has none."""
        return self._lanes[made.path].delivered_head() or made.base

    def replace_delivered_head(self, made: effects.Worktree, commit: str) -> None:
        """Let a copy that dos made of the delivered commits stand for them.

        So git keeps it, and once it has landed nothing is left that has not.
        """
        self._lanes[made.path].deliver(commit)

    def refusal(self, made: effects.Worktree) -> str:
        """Return why the lane's work was not taken over; empty: it was."""
        return self._refused.get(made.path, "")

    # Saving

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        """Take over what the lane has, and return what of it the agent did not commit.

        What cannot be taken over stays in its folder, which is moved to the saved work.
        """
        lane = self._lanes[effect.worktree.path]
        try:
            return lane.take_over(
                effect.worktree.base, run_id=effect.run_id, why="left by the agent"
            )
        except (LaneFailed, HandOverRefused) as error:
            self._refused[effect.worktree.path] = error.message
            return lane.set_aside(effect.run_id, f"left by the agent: {error.message}")

    def commit_changes(self, effect: effects.CommitChanges) -> str:
        """Commit saved changes for the unit; empty where no acceptance command could judge them."""
        saved = effect.saved.commit
        strays = measure.paths_outside_lane(
            self.git, effect.worktree.base, saved, effect.lease, self.workspace.prefix
        )
        if strays or not self.checks.acceptance(effect.unit):
            return ""
        identity = environment.git_identity(os.environ, self.workspace.root)
        lane = self._lanes[effect.worktree.path]
        head = lane.delivered_head() or effect.worktree.base
        commit = salvage_writer.commit_saved(self.git, head, saved, effect.unit, identity)
        lane.deliver(commit)
        return commit

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        """Save commits that did not land to a ref."""
        lane = self._lanes[effect.worktree.path]
        self._refused.pop(effect.worktree.path, None)
        saved: list[effects.Salvage] = []
        head = lane.delivered_head()
        # dos may have made the head of files that a ref holds already.
        if not effect.landed and head != effect.committed_by_dos:
            landed = self.git.commit_of(self.target.ref(effect.worktree.target))
            saved = salvage_writer.save_head(
                self.git,
                head,
                run_id=effect.run_id,
                why="did not land",
                base=landed or effect.worktree.base,
            )
        lane.settle(landed=effect.landed)
        self._join_packs()
        return saved

    def _join_packs(self) -> None:
        join_packs(self.git)
