"""Bringing a unit's commits onto the target branch. Git keeps the fence too, so git itself refuses a stale worker."""

import os
from pathlib import Path

from dos.errors import Fenced, GitFailed
from dos.records.names import slug
from dos.runtime import worktrees
from dos.runtime.effects import Landing, NotLanded, Worktree
from dos.sources.git import AS_DOS, Git

UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


def fence_ref(lane: str) -> str:
    return f"refs/dos/fence/{slug(lane)}"


def raise_fence(git: Git, lane: str, fence: int) -> None:
    """Name the lease's fence in git. It only goes up: whoever holds an older one cannot move a branch any more."""
    ref = fence_ref(lane)
    mine = git.run("hash-object", "-w", "--stdin", feed=f"fence={fence}\n").strip()
    for _ in range(10):
        old = git.attempt("rev-parse", "--verify", "--quiet", ref).stdout.strip()
        if old == mine:
            return
        if old and _fence(git, old) > fence:
            raise Fenced(
                f"git knows a newer fence for lane {lane!r} than {fence}",
                hint=f"If the journal was deleted on purpose: git -C {git.tree} update-ref -d {ref}",
            )
        if git.attempt("update-ref", ref, mine, old).returncode == 0:
            return
    raise GitFailed(f"{ref} would not stand still", hint="Look for another program that writes it.")


def prepare(unit: str, worktree: Worktree, head: str) -> Landing | NotLanded:
    """What would be landed: the commit that was measured, brought on top of the target when that has moved."""
    inside = Git(Path(worktree.path))
    target = inside.commit_of(f"refs/heads/{worktree.target}")
    if target is None:
        return NotLanded(reason=f"the target branch {worktree.target!r} is gone")
    worktrees.clear(inside, head)
    if target != worktree.base:
        rebase = ("-c", "rebase.updateRefs=false", "rebase", "--quiet")  # or branches of others would come along
        done = inside.attempt(*AS_DOS, *rebase, "--onto", target, worktree.base)
        if done.returncode != 0:
            inside.attempt("rebase", "--abort")
            inside.run("checkout", "--quiet", "--force", "--detach", head)
            return NotLanded(reason=f"it does not fit on {worktree.target!r} any more, which has moved to {target[:9]}")
    new = inside.run("rev-parse", "HEAD").strip()
    return Landing(unit=unit, branch=worktree.target, old=target, new=new)


def move_branch(git: Git, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Bring the work trees along that have the branch checked out, then move it in one ref transaction.

    The trees come first: if we die in between, the landed work lies staged in them, and can only be kept. The other
    way round it would lie there as staged for deletion.
    """
    if not git.commit_of(landing.new):
        return NotLanded(reason=f"commit {landing.new[:9]} is not there any more")
    trees = [tree for tree in _trees_on(git, landing.branch) if not _is_there(tree, landing)]
    for tree in trees:
        if why := _in_the_way(tree, landing):
            return NotLanded(reason=why, retryable=True)
    brought: list[Git] = []
    for tree in trees:
        done = tree.attempt("read-tree", "-m", "-u", landing.old, landing.new)
        if done.returncode != 0:
            _take_back(brought, landing)
            return NotLanded(
                reason=f"the files in {tree.tree} cannot follow: {_last_line(done.stderr)}", retryable=True
            )
        brought.append(tree)
    refused = _swap(git, lane, fence, landing)
    if refused:
        _take_back(brought, landing)
    return refused


def has_landed(git: Git, landing: Landing) -> bool:
    return git.is_ancestor(landing.new, f"refs/heads/{landing.branch}")


def _swap(git: Git, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """My fence is still the newest, the branch is still where I saw it, and now it is here."""
    mine = git.run("hash-object", "--stdin", feed=f"fence={fence}\n").strip()
    branch = f"refs/heads/{landing.branch}"
    script = f"start\nverify {fence_ref(lane)} {mine}\nupdate {branch} {landing.new} {landing.old}\nprepare\ncommit\n"
    done = git.attempt("update-ref", "--create-reflog", "-m", f"dos: land {landing.unit}", "--stdin", feed=script)
    if done.returncode == 0:
        return None
    moved = git.commit_of(branch) != landing.old
    return NotLanded(reason=f"git refused to move {landing.branch!r}: {_last_line(done.stderr)}", retryable=moved)


def _trees_on(git: Git, branch: str) -> list[Git]:
    """The work trees in which a branch is checked out."""
    found = []
    for entry in git.run("worktree", "list", "--porcelain", "-z").split("\0\0"):
        lines = entry.strip("\0").split("\0")
        if f"branch refs/heads/{branch}" in lines and "bare" not in lines:
            path = Path(lines[0].removeprefix("worktree "))
            found += [Git(path)] if path.is_dir() else []
    return found


def _is_there(tree: Git, landing: Landing) -> bool:
    """The files came along before, and the worker died before the branch did."""
    changed = set(tree.paths_between(landing.old, landing.new))
    return not changed & set(tree.paths_unlike(landing.new))


def _in_the_way(tree: Git, landing: Landing) -> str | None:
    """Whatever of the user's would be harmed, or would undo the landing with the next commit."""
    directory = Path(tree.run("rev-parse", "--absolute-git-dir").strip())
    if unfinished := next((name for name in UNFINISHED if (directory / name).exists()), None):
        return f"{tree.tree} is in the middle of something ({unfinished})"
    changed = tree.paths_between(landing.old, landing.new)
    if edited := sorted(set(changed) & set(tree.dirty_paths())):
        return f"{edited[0]} has changes in {tree.tree} that nobody committed"
    tracked = set(tree.paths_of(landing.old))
    hidden = next((path for path in changed if path not in tracked and os.path.lexists(tree.tree / path)), None)
    return f"{hidden} is in {tree.tree} and git ignores it" if hidden else None


def _take_back(brought: list[Git], landing: Landing) -> None:
    for tree in brought:
        tree.run("read-tree", "-m", "-u", landing.new, landing.old)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def _fence(git: Git, blob: str) -> int:
    text = git.run("cat-file", "blob", blob).strip()
    return int(text.removeprefix("fence="))
