"""All lanes in the one work tree, on the target branch itself: nothing there is reset, moved or removed."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from dos import regions
from dos.errors import BadInput
from dos.fleet import effects
from dos.fleet.effects import Measurement, NotLanded, Worktree
from dos.git.repository import Writer
from dos.landing import branch as landing
from dos.landing import measure as measuring
from dos.landing.isolated import IsolatedLanding
from dos.landing.measure import Doubt, always_shipped, history_problem
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceCheck, AcceptanceResult
from dos.text import plural, printable_path
from dos.units.unit import Landing


class TreeNotReady(BadInput):
    """A person has to put something right in the tree before a worker can begin."""


class UnitCommits(Struct, frozen=True, kw_only=True):
    """Whose the commits are that came onto the branch meanwhile: other lanes put theirs there too."""

    mine: list[str]
    paths: list[str]  # that mine change
    strays: list[str]  # those of them outside of the lane
    others: list[str]


def prepare(git: Writer, lease: Lease, *, target: str, prefix: str = "") -> Worktree:
    """The tree as it is, when an agent can begin in it; else NotReady says what is in the way."""
    top = Writer(Path(git.run("rev-parse", "--show-toplevel").removesuffix("\n")))
    base = top.commit_of("HEAD")
    if (branch := top.branch()) != target or base is None:
        found = f"the branch {branch!r}" if branch else "no branch"
        raise TreeNotReady(
            f"{top.tree} is on {found}, and the work has to go onto {target!r}",
            hint=f"git -C {top.tree} switch {target}   (or: dos config set workers.target_branch NAME)",
        )
    if unfinished := landing.unfinished_operation(top):
        raise TreeNotReady(
            f"{top.tree} is in the middle of something ({unfinished})",
            hint=f"Finish it: git -C {top.tree} status",
        )
    if left := uncommitted_in_lane(top, lease, prefix):
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise TreeNotReady(
            f"{left[0]}{more} in {top.tree} has changes that nobody committed, and lane {lease.lane!r} works there",
            hint=f"Commit or stash them: git -C {top.tree} status",
        )
    return Worktree(path=str(top.tree), target=target, base=base, salvaged=[], ready=True)


def uncommitted_in_lane(tree: Writer, lease: Lease, prefix: str = "") -> list[str]:
    """What lies uncommitted in the lane's region, to be named and left alone."""
    found = tree.dirty_paths()
    # Of a repository inside of the repository only its folder is named: any file in it stands for all.
    named = [(path, f"{path}x" if path.endswith("/") else path) for path in found]
    return [
        printable_path(path)
        for path, file in named
        if regions.lane_holds(lease.region, file, prefix)
    ]


def measure(
    worktree: Worktree,
    unit: str,
    lease: Lease,
    accept: AcceptanceCheck,
    prefix: str = "",
    *,
    doubt: Doubt = always_shipped,
) -> Measurement:
    """As in a worktree, of the commits that are this unit's; and what becomes of those that are not taken."""
    tree = Writer(Path(worktree.path))
    head = tree.run("rev-parse", "HEAD").strip()
    nothing = Measurement(head=head, commits=[], strays=[], changed_paths=0, accepted=None)
    if tree.branch() != worktree.target:
        return structs.replace(
            nothing, detail=f"it left {worktree.path} on {tree.branch() or 'no branch'}"
        )
    if flaw := history_problem(tree, worktree.base, head):
        return structs.replace(nothing, detail=flaw)
    share = find_unit_commits(tree, worktree.base, head, unit, lease, prefix)
    answer = accept(tree.tree) if share.paths and not share.strays else AcceptanceResult()
    # A command that ran beside changes of others says nothing about the commit alone.
    exact = [tree.commit_of("HEAD")] == share.mine[-1:] and not tree.dirty_paths()
    failed = answer.passed is False or bool(share.strays)
    unproven = doubt(share.mine[-1]) if share.paths and not failed else ""
    left = describe_unlanded(share.mine, worktree.target) if failed or unproven else ""
    return Measurement(
        head=share.mine[-1] if share.mine else head,
        commits=share.mine,
        strays=share.strays,
        changed_paths=len(share.paths),
        accepted=answer.passed,
        detail="; ".join(filter(None, (answer.detail, left))),
        why_not_shipped="; ".join(filter(None, (unproven, left))) if unproven else "",
        acceptance_run=answer.run if exact else None,
    )


def describe_unlanded(commits: Sequence[str], target: str) -> str:
    """What is said of work that was not taken and lies on the branch all the same."""
    if not commits:
        return ""
    names = f"{commits[0][:9]}..{commits[-1][:9]}" if len(commits) > 1 else commits[0][:9]
    stay = "stay" if len(commits) > 1 else "stays"
    found = f"{plural(len(commits), 'commit')} ({names})"
    return f"{found} {stay} on {target!r} until a person decides: nothing was reset"


def find_unit_commits(
    tree: Writer, base: str, head: str, unit: str, lease: Lease, prefix: str = ""
) -> UnitCommits:
    """A commit is another's when it names another unit, or names none and changes nothing in the lane."""
    mine: list[str] = []
    others: list[str] = []
    paths: dict[str, None] = {}
    for commit in tree.commits_between(base, head):
        changed = tree.paths_between(f"{commit}^1", commit)
        named = tree.run(
            "show", "--no-patch", "--format=%(trailers:key=Unit,valueonly)", commit
        ).split("\n")
        units = {name.strip() for name in named} - {""}
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


def prepare_landing(
    unit: str, worktree: Worktree, head: str, lease: Lease, prefix: str = ""
) -> Landing | NotLanded:
    """What is on the branch already: from the parent of the unit's first commit to its last."""
    tree = Writer(Path(worktree.path))
    if not tree.is_ancestor(head, f"refs/heads/{worktree.target}"):
        return NotLanded(reason=f"commit {head[:9]} is not on {worktree.target!r} any more")
    share = find_unit_commits(tree, worktree.base, head, unit, lease, prefix)
    if not share.mine:
        return NotLanded(reason=f"no commit of {unit} is on {worktree.target!r}")
    old = tree.run("rev-parse", f"{share.mine[0]}^1").strip()
    return Landing(unit=unit, branch=worktree.target, base=old, commit=share.mine[-1])


def confirm_landed(git: Writer, *, lane: str, fence: int, ready: Landing) -> NotLanded | None:
    """In place of moving a branch: the fence is still ours, and the branch still holds the work."""
    if refused := landing.check_fence(git, lane, fence):
        return refused
    if not landing.has_landed(git, ready):
        return NotLanded(reason=f"commit {ready.commit[:9]} is not on {ready.branch!r} any more")
    return None


class SharedTreeLanding(IsolatedLanding):
    def prepare(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        return prepare(self.git, effect.lease, target=self.branch(), prefix=self.workspace.prefix)

    def measure(self, effect: effects.MeasureWork) -> effects.Measurement:
        self.raise_if_halted(effect.lease)
        return measure(
            effect.worktree,
            effect.unit.name,
            effect.lease,
            self._acceptance_check(effect),
            self.workspace.prefix,
            doubt=partial(self._why_not_shipped, effect, effect.worktree.base),
        )

    def unit_commits(
        self, effect: effects.MeasureWork | effects.PrepareLanding, base: str, head: str
    ) -> list[str]:
        tree = Writer(Path(effect.worktree.path))
        return find_unit_commits(
            tree, base, head, effect.unit.name, effect.lease, self.workspace.prefix
        ).mine

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        return []  # they lie in the tree, where a person sees them

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        return []  # they are on the branch

    def prepare_landing(self, effect: effects.PrepareLanding) -> Landing | effects.NotLanded:
        ready = prepare_landing(
            effect.unit.name, effect.worktree, effect.head, effect.lease, self.workspace.prefix
        )
        if isinstance(ready, effects.NotLanded):
            return ready
        tree = Writer(Path(effect.worktree.path))
        tested = self.run_gate(effect, ready, tree)
        if isinstance(tested, Landing) and measuring.paths_outside_lane(
            tree, ready.base, ready.commit, effect.lease, self.workspace.prefix
        ):
            return (
                ready  # commits of other lanes lie in between: a receipt would speak for them too
            )
        return tested

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return confirm_landed(
            self.git, lane=effect.lease.lane, fence=effect.lease.fence, ready=effect.landing
        )
