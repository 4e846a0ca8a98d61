"""`[workers] isolation = "shared"`: every lane works in the one work tree, on the target branch itself.

Nothing here resets, cleans, moves or removes anything: the tree is a person's. A lane starts when no change lies
uncommitted in its region. What an agent commits is on the branch at once; when it strays or fails its acceptance it
stays there, the outcome says so, and a person decides. What it leaves uncommitted is named and left alone.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.records import regions
from dos.records.leases import Lease
from dos.records.names import counted, on_one_line
from dos.records.units import Landing
from dos.runtime import landing
from dos.runtime.effects import Measured, NotLanded, Worktree
from dos.runtime.measuring import Accept, Accepted, Doubt, certain, unfounded
from dos.sources.git import Writer


class NotReady(BadInput):
    """A person has to put something right in the tree before a worker can begin."""


class Share(Struct, frozen=True, kw_only=True):
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
        raise NotReady(
            f"{top.tree} is on {found}, and the work has to go onto {target!r}",
            hint=f"git -C {top.tree} switch {target}   (or: dos config set workers.target_branch NAME)",
        )
    if unfinished := landing.unfinished(top):
        raise NotReady(
            f"{top.tree} is in the middle of something ({unfinished})", hint=f"Finish it: git -C {top.tree} status"
        )
    if left := uncommitted(top, lease, prefix):
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise NotReady(
            f"{left[0]}{more} in {top.tree} has changes that nobody committed, and lane {lease.lane!r} works there",
            hint=f"Commit or stash them: git -C {top.tree} status",
        )
    return Worktree(path=str(top.tree), target=target, base=base, salvaged=[], ready=True)


def uncommitted(tree: Writer, lease: Lease, prefix: str = "") -> list[str]:
    """What lies uncommitted in the lane's region, to be named and left alone."""
    found = tree.dirty_paths()
    # Of a repository inside of the repository only its folder is named: any file in it stands for all.
    named = [(path, f"{path}x" if path.endswith("/") else path) for path in found]
    return [on_one_line(path) for path, file in named if regions.lane_holds(lease.region, file, prefix)]


def measure(
    worktree: Worktree, unit: str, lease: Lease, accept: Accept, prefix: str = "", *, doubt: Doubt = certain
) -> Measured:
    """As in a worktree, of the commits that are this unit's; and what becomes of those that are not taken."""
    tree = Writer(Path(worktree.path))
    head = tree.run("rev-parse", "HEAD").strip()
    nothing = Measured(head=head, commits=[], strays=[], changed_paths=0, accepted=None)
    if tree.branch() != worktree.target:
        return structs.replace(nothing, detail=f"it left {worktree.path} on {tree.branch() or 'no branch'}")
    if flaw := unfounded(tree, worktree.base, head):
        return structs.replace(nothing, detail=flaw)
    share = share_of(tree, worktree.base, head, unit, lease, prefix)
    answer = accept(tree.tree) if share.paths and not share.strays else Accepted()
    # A command that ran beside changes of others says nothing about the commit alone.
    exact = [tree.commit_of("HEAD")] == share.mine[-1:] and not tree.dirty_paths()
    failed = answer.passed is False or bool(share.strays)
    unproven = doubt(share.mine[-1]) if share.paths and not failed else ""
    left = stays(share.mine, worktree.target) if failed or unproven else ""
    return Measured(
        head=share.mine[-1] if share.mine else head,
        commits=share.mine,
        strays=share.strays,
        changed_paths=len(share.paths),
        accepted=answer.passed,
        detail="; ".join(filter(None, (answer.detail, left))),
        unproven="; ".join(filter(None, (unproven, left))) if unproven else "",
        run=answer.run if exact else None,
    )


def stays(commits: Sequence[str], target: str) -> str:
    """What is said of work that was not taken and lies on the branch all the same."""
    if not commits:
        return ""
    names = f"{commits[0][:9]}..{commits[-1][:9]}" if len(commits) > 1 else commits[0][:9]
    stay = "stay" if len(commits) > 1 else "stays"
    found = f"{counted(len(commits), 'commit')} ({names})"
    return f"{found} {stay} on {target!r} until a person decides: nothing was reset"


def share_of(tree: Writer, base: str, head: str, unit: str, lease: Lease, prefix: str = "") -> Share:
    """A commit is another's when it names another unit, or names none and changes nothing in the lane."""
    mine: list[str] = []
    others: list[str] = []
    paths: dict[str, None] = {}
    for commit in tree.commits_between(base, head):
        changed = tree.paths_between(f"{commit}^1", commit)
        named = tree.run("show", "--no-patch", "--format=%(trailers:key=Unit,valueonly)", commit).split("\n")
        units = {name.strip() for name in named} - {""}
        touches_lane = any(regions.lane_holds(lease.region, path, prefix) for path in changed)
        if unit in units or (not units and touches_lane):
            mine.append(commit)
            paths |= dict.fromkeys(changed)
        else:
            others.append(commit)
    strays = [on_one_line(path) for path in paths if not regions.lane_holds(lease.region, path, prefix)]
    return Share(mine=mine, paths=list(paths), strays=strays, others=others)


def prepare_landing(unit: str, worktree: Worktree, head: str, lease: Lease, prefix: str = "") -> Landing | NotLanded:
    """What is on the branch already: from the parent of the unit's first commit to its last."""
    tree = Writer(Path(worktree.path))
    if not tree.is_ancestor(head, f"refs/heads/{worktree.target}"):
        return NotLanded(reason=f"commit {head[:9]} is not on {worktree.target!r} any more")
    share = share_of(tree, worktree.base, head, unit, lease, prefix)
    if not share.mine:
        return NotLanded(reason=f"no commit of {unit} is on {worktree.target!r}")
    old = tree.run("rev-parse", f"{share.mine[0]}^1").strip()
    return Landing(unit=unit, branch=worktree.target, base=old, commit=share.mine[-1])


def confirm(git: Writer, *, lane: str, fence: int, ready: Landing) -> NotLanded | None:
    """In place of moving a branch: the fence is still ours, and the branch still holds the work."""
    if refused := landing.check_fence(git, lane, fence):
        return refused
    if not landing.has_landed(git, ready):
        return NotLanded(reason=f"commit {ready.commit[:9]} is not on {ready.branch!r} any more")
    return None
