"""Moves the target branch to landed work, or a unit's own branch for a pull request.

The fence of a lane's lease is kept in a git ref as well, and every move verifies it in the same
ref transaction: git itself refuses a stale worker.
"""

import os
import re
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path, PurePosixPath

from msgspec import structs

from dos import times
from dos.errors import GitFailed
from dos.fleet.effects import NotLanded
from dos.git import commits
from dos.git.fence import is_newest, verify_line
from dos.git.repository import Writer
from dos.git.worktrees import list_worktrees
from dos.text import slug
from dos.units.unit import Landing

INDEX_SECONDS = 15.0  # to wait for another process that has locked the index of a work tree
_INDEX_PAUSES = times.exponential_backoff(0.02, cap=0.5)  # in seconds
UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_fence(git: Writer, lane: str, fence: int) -> NotLanded | None:
    """Return None while the fence is the newest, else the refusal of a stale worker.

    For landings that move nothing, and so verify the fence in no ref transaction.
    """
    if is_newest(git, lane, fence):
        return None
    return NotLanded(reason=f"git has a newer fence for lane {lane!r} than {fence}")


# The target branch


def move_branch(git: Writer, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Update the work trees that have the branch checked out, then move it in one ref transaction.

    Returns None when the branch is at the landing's commit, else why not. The trees come first: if
    this process dies in between, the landed work is staged in them and can only be kept. In the
    other order it would be staged for deletion.
    """
    if not git.commit_of(landing.commit):
        return NotLanded(reason=f"commit {landing.commit[:9]} no longer exists")
    tip = git.commit_of(f"refs/heads/{landing.branch}") or "nothing"
    if tip != landing.base:
        if has_landed(git, landing):
            return None  # git died after it had moved the branch, before it could say so
        _restore(git, landing)
        reason = f"{landing.branch!r} has moved to {tip[:9]}"
        return NotLanded(reason=reason, retryable=True, branch_moved=True)
    refused = check_fast_forward(git, landing)
    if refused:
        return refused
    trees = [tree for tree in _trees_on(git, landing.branch) if not _is_updated(tree, landing)]
    for tree in trees:
        obstacle = _obstacle(tree, landing)
        if obstacle:
            return NotLanded(reason=obstacle, retryable=True, obstacle=True)
    updated: list[Writer] = []
    for tree in trees:
        try:
            _read_tree(tree, landing.base, landing.commit)
        except GitFailed as error:  # git refuses with the same exit code with which it dies
            _take_back(updated, landing)
            reason = f"the files in {tree.tree} cannot be updated: {error.message}"
            return NotLanded(reason=reason, retryable=True, obstacle=True)
        updated.append(tree)
    refused = _swap(git, lane, fence, landing)
    if refused:
        _take_back(updated, landing)
    return refused


def check_fast_forward(git: Writer, landing: Landing) -> NotLanded | None:
    """Refuse a commit that does not descend from the base: moving there would drop commits."""
    if commits.is_fast_forward(git, landing.base, landing.commit):
        return None
    return NotLanded(
        reason=f"commit {landing.commit[:9]} does not descend from {landing.base[:9]}, "
        f"the commit of {landing.branch!r}"
    )


def has_landed(git: Writer, landing: Landing) -> bool:
    """Whether the landing's branch contains its commit."""
    return git.is_ancestor(landing.commit, f"refs/heads/{landing.branch}")


# A unit's own branch


def unit_branch_name(lane: str, unit: str) -> str:
    """Return the branch on which a unit's work is delivered for a pull request."""
    words = [_branch_word(word) for word in (lane, *unit.split("/"))]
    return "/".join(["dos", *words])


def _branch_word(word: str) -> str:
    """Return the word as written where git accepts it in a branch name, else its slug."""
    is_valid = _PLAIN_WORD.fullmatch(word) and ".." not in word
    if is_valid and not word.endswith((".", ".lock")):
        return word
    return slug(word)


def on_unit_branch(lane: str, landing: Landing) -> Landing:
    """Return the same landing, to be delivered on the unit's own branch."""
    return structs.replace(landing, branch=unit_branch_name(lane, landing.unit))


def move_unit_branch(git: Writer, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Create the unit's branch, or move it forward; no work tree is touched.

    Returns None when the branch is at the landing's commit, else why not: a branch that holds
    other commits, or that is checked out somewhere, is left alone.
    """
    if not git.commit_of(landing.commit):
        return NotLanded(reason=f"commit {landing.commit[:9]} no longer exists")
    if landing.branch != unit_branch_name(lane, landing.unit):
        # The landing was intended before [workers] landing was set to "branch".
        return NotLanded(
            reason=f"it was to land on {landing.branch!r}, but units now land on their own branches"
        )
    tip = git.commit_of(f"refs/heads/{landing.branch}")
    if tip == landing.commit:
        return check_fence(git, lane, fence)
    if tip is None:
        absent = "0" * len(landing.commit)
        return _swap(git, lane, fence, structs.replace(landing, base=absent))
    if not commits.is_fast_forward(git, tip, landing.commit):
        reason = f"branch {landing.branch!r} holds other work ({tip[:9]}); merge or delete it first"
        return NotLanded(reason=reason, obstacle=True)
    trees = _trees_on(git, landing.branch)
    if trees:
        reason = f"branch {landing.branch!r} is checked out in {trees[0].tree}"
        return NotLanded(reason=reason, retryable=True, obstacle=True)
    return _swap(git, lane, fence, structs.replace(landing, base=tip))


def unmerged_unit_branches(git: Writer, target: str) -> dict[str, str]:
    """Return the unit branches that the target does not contain yet, each with its commit."""
    words = (
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        f"--no-merged=refs/heads/{target}",
    )
    branches = {}
    for line in git.run(*words, "refs/heads/dos/").splitlines():
        commit, ref = line.split(" ", 1)
        branches[ref.removeprefix("refs/heads/")] = commit
    return branches


def _swap(git: Writer, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Move the branch from base to commit in one transaction that also verifies the fence."""
    branch = f"refs/heads/{landing.branch}"
    absent = "0" * len(landing.commit)
    refused = git.swap_ref(
        branch,
        landing.commit,
        landing.base,
        verified=verify_line(git, lane, fence),
        message=f"dos: land {landing.unit}",
    )
    if not refused:
        return None
    moved = (git.commit_of(branch) or absent) != landing.base
    reason = f"git refused to move {landing.branch!r}: {refused}"
    retryable = moved or is_newest(git, lane, fence)
    return NotLanded(reason=reason, retryable=retryable, branch_moved=moved)


# The user's work trees


def unfinished_operation(tree: Writer) -> str | None:
    """Return git's file for a merge, rebase, cherry-pick or revert in progress, or None."""
    directory = Path(tree.run("rev-parse", "--absolute-git-dir").strip())
    for name in UNFINISHED:
        if (directory / name).exists():
            return name
    return None


def untracked_obstacles(tree: Writer, commit: str, new: Iterable[str]) -> list[str]:
    """Return untracked files, ignored ones too, at or above the paths that are to be written."""
    tracked = set(tree.paths_of(commit))
    obstacles: dict[str, None] = {}
    for path in new:
        if path in tracked:
            continue
        for parent in (path, *_parents(path)):
            if parent not in tracked and _blocks(tree.tree / parent, is_parent=parent != path):
                obstacles[parent] = None
    return list(obstacles)


def _parents(path: str) -> list[str]:
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]


def _blocks(path: Path, *, is_parent: bool) -> bool:
    """Whether something at the path is in the way; a real folder above the target is not."""
    if not os.path.lexists(path):
        return False
    is_folder = path.is_dir() and not path.is_symlink()
    return not (is_parent and is_folder)


def _trees_on(git: Writer, branch: str) -> list[Writer]:
    """Return the work trees that have a branch checked out."""
    trees = []
    for lines in list_worktrees(git):
        path = Path(lines[0].removeprefix("worktree "))
        is_on_branch = f"branch refs/heads/{branch}" in lines and "bare" not in lines
        if is_on_branch and path.is_dir():
            trees.append(Writer(path))
    return trees


def _is_updated(tree: Writer, landing: Landing) -> bool:
    """Whether the tree has the landing's files: a worker died before it moved the branch."""
    changed = set(tree.paths_between(landing.base, landing.commit))
    return not changed & set(tree.paths_differing_from(landing.commit))


def _obstacle(tree: Writer, landing: Landing) -> str | None:
    """Return what of the user's the landing would overwrite, or the next commit would undo it."""
    operation = unfinished_operation(tree)
    if operation:
        return f"{tree.tree} has an unfinished operation ({operation})"
    changed = tree.paths_between(landing.base, landing.commit)
    edited = sorted(set(changed) & set(tree.dirty_paths()))
    if edited:
        return f"{edited[0]} has uncommitted changes in {tree.tree}"
    hidden = untracked_obstacles(tree, landing.base, changed)
    if hidden:
        return f"{hidden[0]} is in {tree.tree} and git ignores it"
    return None


def _take_back(trees: list[Writer], landing: Landing) -> None:
    """Return the trees to the landing's base; raises GitFailed with the command that would.

    The trees are the user's, so waiting for a locked index is worth it.
    """
    for tree in trees:
        try:
            _read_tree(tree, landing.commit, landing.base)
        except GitFailed as error:
            raise GitFailed(
                f"{tree.tree} has the files of {landing.unit}, which did not land: {error.message}",
                hint=f"git -C {tree.tree} read-tree -m -u {landing.commit} {landing.base}",
            ) from error


def _restore(git: Writer, landing: Landing) -> None:
    """Remove the files of a landing that never happened, where a worker died on the way."""
    tip = git.commit_of(f"refs/heads/{landing.branch}")
    if tip is None or git.is_ancestor(landing.commit, tip):
        return
    for tree in _trees_on(git, landing.branch):
        staged = set(tree.staged_paths())
        changed = set(tree.paths_between(tip, landing.commit))
        if changed & staged and _is_updated(tree, landing):
            _take_back([tree], structs.replace(landing, base=tip))


def _read_tree(tree: Writer, old: str, new: str) -> None:
    """Bring the files of a tree from one commit to another, or raise GitFailed and change nothing.

    A locked index is waited for: the user's own git commands hold it for moments only.
    """
    words = ("read-tree", "-m", "-u", old, new)
    deadline = time.monotonic() + INDEX_SECONDS
    for failures in count(1):
        done = tree.run_once(*words)
        if done.returncode == 0:
            return
        locked = next((line for line in done.stderr.splitlines() if "index.lock" in line), "")
        if not locked:
            tree.run(*words)  # tries again if git died, and raises its message
            return
        if time.monotonic() >= deadline:
            raise GitFailed(f"the index was locked for {INDEX_SECONDS:g} s: {locked}")
        time.sleep(_INDEX_PAUSES.delay(failures))
