"""Works all lanes in the user's work tree, on the target branch; nothing there is ever reset."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from dos import regions
from dos.errors import BadInput
from dos.fleet import effects
from dos.fleet.effects import Measurement, NotLanded, Worktree
from dos.git.repository import Writer
from dos.landing.branch import check_fence, has_landed, unfinished_operation
from dos.landing.gate import UnitEffect
from dos.landing.isolated import IsolatedLanding
from dos.landing.measure import ShippedCheck, history_problem, paths_outside_lane
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceCheck, AcceptanceResult
from dos.text import plural, printable_path
from dos.units.unit import Landing


class TreeNotReady(BadInput):
    """A person has to fix something in the work tree before a worker can start."""


class UnitCommits(Struct, frozen=True, kw_only=True):
    """The commits since a base, divided by owner: other lanes commit to the same branch."""

    mine: list[str]
    paths: list[str]  # that mine change
    strays: list[str]  # those of them outside the lane
    others: list[str]


def prepare(git: Writer, lease: Lease, *, target: str, prefix: str = "") -> Worktree:
    """Return the user's tree as it is, or raise TreeNotReady with what an agent cannot work with.

    The tree must be on the target branch, in no merge or rebase, and clean inside the lane.
    """
    top = Writer(Path(git.run("rev-parse", "--show-toplevel").removesuffix("\n")))
    base = top.commit_of("HEAD")
    current = top.branch()
    if current != target or base is None:
        described = f"branch {current!r}" if current else "no branch"
        raise TreeNotReady(
            f"{top.tree} is on {described}, but work lands on {target!r}",
            hint=f"git -C {top.tree} switch {target}"
            "   (or: dos config set workers.target_branch NAME)",
        )
    operation = unfinished_operation(top)
    if operation:
        raise TreeNotReady(
            f"{top.tree} has an unfinished operation ({operation})",
            hint=f"Finish it: git -C {top.tree} status",
        )
    dirty = uncommitted_in_lane(top, lease, prefix)
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise TreeNotReady(
            f"lane {lease.lane!r} cannot start: {dirty[0]}{more} in {top.tree} has "
            "uncommitted changes",
            hint=f"Commit or stash them: git -C {top.tree} status",
        )
    return Worktree(path=str(top.tree), target=target, base=base, salvaged=[], ready=True)


def uncommitted_in_lane(tree: Writer, lease: Lease, prefix: str = "") -> list[str]:
    """Return the uncommitted paths in the lane's region; nothing is done to them."""
    paths = []
    for path in tree.dirty_paths():
        # Git names only the folder of a nested repository: any file in it stands for all.
        file = f"{path}x" if path.endswith("/") else path
        if regions.lane_holds(lease.region, file, prefix):
            paths.append(printable_path(path))
    return paths


def measure(
    worktree: Worktree,
    unit: str,
    lease: Lease,
    accept: AcceptanceCheck,
    prefix: str = "",
    *,
    shipped_check: ShippedCheck | None = None,
) -> Measurement:
    """Measure the unit's own commits on the shared branch.

    Commits that are refused stay on the branch, and the detail says which: dos resets nothing
    here. The acceptance command runs on the last of them, in a check tree: uncommitted changes in
    the work tree are not judged with it.
    """
    tree = Writer(Path(worktree.path))
    head = tree.run("rev-parse", "HEAD").strip()
    problem = _branch_problem(tree, worktree) or history_problem(tree, worktree.base, head)
    if problem:
        return Measurement(
            head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail=problem
        )
    found = find_unit_commits(tree, worktree.base, head, unit, lease, prefix)
    result = AcceptanceResult()
    if found.paths and not found.strays:
        result = accept(found.mine[-1])
    failed = result.passed is False or bool(found.strays)
    unproven = ""
    if shipped_check and found.paths and not failed:
        unproven = shipped_check(found.mine[-1])
    unlanded = ""
    if failed or unproven:
        unlanded = describe_unlanded(found.mine, worktree.target)
    return Measurement(
        head=found.mine[-1] if found.mine else head,
        commits=found.mine,
        strays=found.strays,
        changed_paths=len(found.paths),
        accepted=result.passed,
        detail=_joined(result.detail, unlanded),
        why_not_shipped=_joined(unproven, unlanded) if unproven else "",
        acceptance_run=result.run,
    )


def _branch_problem(tree: Writer, worktree: Worktree) -> str:
    current = tree.branch()
    if current == worktree.target:
        return ""
    return f"it left {worktree.path} on {current or 'no branch'}"


def _joined(*sentences: str) -> str:
    return "; ".join(filter(None, sentences))


def describe_unlanded(commits: Sequence[str], target: str) -> str:
    """Return the sentence about refused commits that are on the branch all the same."""
    if not commits:
        return ""
    if len(commits) == 1:
        return f"1 commit ({commits[0][:9]}) stays on {target!r} until you decide: nothing is reset"
    names = f"{commits[0][:9]}..{commits[-1][:9]}"
    count = plural(len(commits), "commit")
    return f"{count} ({names}) stay on {target!r} until you decide: nothing is reset"


def find_unit_commits(
    tree: Writer, base: str, head: str, unit: str, lease: Lease, prefix: str = ""
) -> UnitCommits:
    """Divide the commits since a base into the unit's and those of others.

    A commit is another's when it names another unit, or names none and changes nothing in the lane.
    """
    mine: list[str] = []
    others: list[str] = []
    paths: dict[str, None] = {}
    for commit in tree.commits_between(base, head):
        changed = tree.paths_between(f"{commit}^1", commit)
        units = _named_units(tree, commit)
        touches_lane = any(regions.lane_holds(lease.region, path, prefix) for path in changed)
        if unit in units or (not units and touches_lane):
            mine.append(commit)
            paths |= dict.fromkeys(changed)
        else:
            others.append(commit)
    strays = [
        printable_path(path) for path in paths if not regions.lane_holds(lease.region, path, prefix)
    ]
    return UnitCommits(mine=mine, paths=list(paths), strays=strays, others=others)


def _named_units(tree: Writer, commit: str) -> set[str]:
    """Return the units that the trailers of a commit name."""
    trailers = tree.run("show", "--no-patch", "--format=%(trailers:key=Unit,valueonly)", commit)
    return {name.strip() for name in trailers.split("\n")} - {""}


def prepare_landing(
    unit: str, worktree: Worktree, head: str, lease: Lease, prefix: str = ""
) -> Landing | NotLanded:
    """Return the landing of commits that are on the branch already.

    It reaches from the parent of the unit's first commit to its last.
    """
    tree = Writer(Path(worktree.path))
    if not tree.is_ancestor(head, f"refs/heads/{worktree.target}"):
        return NotLanded(reason=f"commit {head[:9]} is no longer on {worktree.target!r}")
    found = find_unit_commits(tree, worktree.base, head, unit, lease, prefix)
    if not found.mine:
        return NotLanded(reason=f"no commit of {unit} is on {worktree.target!r}")
    base = tree.run("rev-parse", f"{found.mine[0]}^1").strip()
    return Landing(unit=unit, branch=worktree.target, base=base, commit=found.mine[-1])


def confirm_landed(git: Writer, *, lane: str, fence: int, ready: Landing) -> NotLanded | None:
    """Check the fence and that the branch still holds the work, in place of moving a branch."""
    refused = check_fence(git, lane, fence)
    if refused:
        return refused
    if not has_landed(git, ready):
        return NotLanded(reason=f"commit {ready.commit[:9]} is no longer on {ready.branch!r}")
    return None


class SharedTreeLanding(IsolatedLanding):
    """Performs the same effects in the user's work tree, where lanes commit to the target branch.

    Nothing has to be saved: changes lie in the tree, and commits on the branch, where a person
    sees them.
    """

    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        return prepare(self.git, effect.lease, target=self.branch(), prefix=self.workspace.prefix)

    def snapshot(self, worktree: effects.Worktree) -> object:
        tree = Writer(Path(worktree.path))
        return tree.commit_of("HEAD"), tuple(tree.dirty_paths())

    def measure(self, effect: effects.MeasureWork) -> effects.Measurement:
        self.raise_if_halted(effect.lease)
        measured = measure(
            effect.worktree,
            effect.unit.name,
            effect.lease,
            self._acceptance_check(effect),
            self.workspace.prefix,
            shipped_check=partial(self._why_not_shipped, effect, effect.worktree.base),
        )
        return self._judged_by_base(effect, measured)

    def unit_commits(self, effect: UnitEffect, base: str, head: str) -> list[str]:
        tree = Writer(Path(effect.worktree.path))
        prefix = self.workspace.prefix
        found = find_unit_commits(tree, base, head, effect.unit.name, effect.lease, prefix)
        return found.mine

    def save_changes(self, _effect: effects.SaveChanges) -> list[effects.Salvage]:
        return []

    def save_commits(self, _effect: effects.SaveCommits) -> list[effects.Salvage]:
        return []

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        """Return the landing of the unit's commits, with a receipt if they lie side by side.

        Between them, commits of other lanes may lie: a receipt would speak for those too.
        """
        prefix = self.workspace.prefix
        ready = prepare_landing(
            effect.unit.name, effect.worktree, effect.head, effect.lease, prefix
        )
        if isinstance(ready, effects.NotLanded):
            return ready
        tree = Writer(Path(effect.worktree.path))
        tested = self.run_gate(effect, ready)
        if isinstance(tested, effects.NotLanded):
            return tested
        strays = paths_outside_lane(tree, ready.base, ready.commit, effect.lease, prefix)
        return ready if strays else tested

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return confirm_landed(
            self.git, lane=effect.lease.lane, fence=effect.lease.fence, ready=effect.landing
        )
