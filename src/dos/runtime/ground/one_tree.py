"""All lanes in the one work tree, on the target branch itself: nothing there is reset, moved or removed."""

from functools import partial
from pathlib import Path

from dos.records.units import Landing
from dos.runtime import effects, measuring
from dos.runtime.ground.lane_trees import LaneTrees
from dos.runtime.trees import shared
from dos.sources.git import Writer


class OneTree(LaneTrees):
    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        return shared.prepare(self.git, effect.lease, target=self.branch(), prefix=self.place.prefix)

    def measure(self, effect: effects.MeasureWork) -> effects.Measured:
        self.heed(effect.lease)
        return shared.measure(
            effect.worktree,
            effect.unit.name,
            effect.lease,
            self._judged(effect),
            self.place.prefix,
            doubt=partial(self._doubt, effect, effect.worktree.base),
        )

    def commits(self, effect: effects.MeasureWork | effects.PrepareLanding, base: str, head: str) -> list[str]:
        tree = Writer(Path(effect.worktree.path))
        return shared.share_of(tree, base, head, effect.unit.name, effect.lease, self.place.prefix).mine

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        return []  # they lie in the tree, where a person sees them

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        return []  # they are on the branch

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        ready = shared.prepare_landing(effect.unit.name, effect.worktree, effect.head, effect.lease, self.place.prefix)
        if isinstance(ready, effects.NotLanded):
            return ready
        tree = Writer(Path(effect.worktree.path))
        tested = self.tested(effect, ready, tree)
        if isinstance(tested, Landing) and measuring.strays(
            tree, ready.base, ready.commit, effect.lease, self.place.prefix
        ):
            return ready  # commits of other lanes lie in between: a receipt would speak for them too
        return tested

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return shared.confirm(self.git, lane=effect.lease.lane, fence=effect.lease.fence, ready=effect.landing)
