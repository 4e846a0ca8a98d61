"""Bringing a unit's commits onto the target branch, or onto one of their own for a pull request.

Git keeps the fence too, so git itself refuses a stale worker.
"""

import os
import re
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path, PurePosixPath

from msgspec import structs

from dos import times
from dos.errors import Fenced, GitFailed, GitUnanswered
from dos.fleet.effects import NotLanded, Worktree
from dos.git import commits
from dos.git.repository import AS_DOS, Writer
from dos.landing import rebase
from dos.landing import worktree as adding
from dos.landing import worktree as worktrees
from dos.text import slug
from dos.units.unit import Landing

REBASE_TRIES = 3  # of one that died on its way
INDEX_SECONDS = 15.0  # for whoever else is at the index of a work tree
_INDEX_PAUSES = times.exponential_backoff(0.02, cap=0.5)  # in seconds
UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Whatever the user has configured: no branch of others comes along, no commit is melted into another, none is resolved
# as another was once.
_PLAIN_REBASE = (
    "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false", "-c", "rerere.enabled=false",
)  # fmt: skip


def fence_ref(lane: str) -> str:
    return f"refs/dos/fence/{slug(lane)}"


def raise_fence(git: Writer, lane: str, fence: int) -> None:
    """Name the lease's fence in git. It only goes up: whoever holds an older one cannot move a branch any more."""
    ref = fence_ref(lane)
    mine = git.run("hash-object", "-w", "--stdin", feed=f"fence={fence}\n").strip()

    def raised(old: str | None) -> str:
        if old and _fence(git, old) > fence:
            raise Fenced(
                f"git knows a newer fence for lane {lane!r} than {fence}",
                hint=f"If the journal was deleted on purpose: git -C {git.tree} update-ref -d {ref}",
            )
        return mine

    git.change_ref(ref, raised)


def prepare_landing(
    unit: str, worktree: Worktree, head: str, *, newest: str | None = ""
) -> Landing | NotLanded:
    """What would be landed: the commit that was measured, brought on top of the target when that has moved.

    `newest` is where the target is, when that is not the branch of this repository.
    """
    inside = Writer(Path(worktree.path))
    target = inside.commit_of(f"refs/heads/{worktree.target}") if newest == "" else newest
    if target is None:
        return NotLanded(reason=f"the target branch {worktree.target!r} is gone")
    worktrees.clear(inside, head)
    if target != worktree.base and (refused := _rebase(inside, worktree, target, head)):
        return refused
    new = inside.run("rev-parse", "HEAD").strip()
    return Landing(unit=unit, branch=worktree.target, base=target, commit=new)


def _rebase(inside: Writer, worktree: Worktree, target: str, head: str) -> NotLanded | None:
    for tries_left in reversed(range(REBASE_TRIES)):
        try:
            done = inside.attempt(
                *AS_DOS, *_PLAIN_REBASE, "rebase", "--quiet", "--onto", target, worktree.base
            )
            break
        except GitUnanswered as error:
            worktrees.clear(inside, head)  # nobody knows how far it came
            if not tries_left:
                return NotLanded(reason=error.message, retryable=True)
    if done.returncode == 0:
        return None
    said = rebase.describe_conflict(inside)
    inside.attempt("rebase", "--abort")
    inside.run("checkout", "--quiet", "--force", "--detach", head)
    moved = f"it does not fit on {worktree.target!r} any more, which has moved to {target[:9]}"
    return NotLanded(reason=f"{moved}: {said or _last_line(done.stderr)}", conflict=bool(said))


def move_branch(git: Writer, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Bring the work trees along that have the branch checked out, then move it in one ref transaction.

    The trees come first: if we die in between, the landed work lies staged in them, and can only be kept. The other
    way round it would lie there as staged for deletion.
    """
    if not git.commit_of(landing.commit):
        return NotLanded(reason=f"commit {landing.commit[:9]} is not there any more")
    if (at := git.commit_of(f"refs/heads/{landing.branch}") or "nothing") != landing.base:
        _restore(git, landing)
        return NotLanded(
            reason=f"{landing.branch!r} has moved to {at[:9]}", retryable=True, branch_moved=True
        )
    if refused := check_fast_forward(git, landing):
        return refused
    trees = [tree for tree in _trees_on(git, landing.branch) if not _is_there(tree, landing)]
    for tree in trees:
        if why := _in_the_way(tree, landing):
            return NotLanded(reason=why, retryable=True, obstacle=True)
    brought: list[Writer] = []
    for tree in trees:
        try:
            _read_tree(tree, landing.base, landing.commit)
        except GitFailed as error:  # it says no with the code with which it dies
            _take_back(brought, landing)
            why = f"the files in {tree.tree} cannot follow: {error.message}"
            return NotLanded(reason=why, retryable=True, obstacle=True)
        brought.append(tree)
    refused = _swap(git, lane, fence, landing)
    if refused:
        _take_back(brought, landing)
    return refused


def check_fast_forward(git: Writer, landing: Landing) -> NotLanded | None:
    """A branch is only ever moved to what was built on it: anything else would take commits away."""
    if commits.is_fast_forward(git, landing.base, landing.commit):
        return None
    return NotLanded(
        reason=f"commit {landing.commit[:9]} was not built on {landing.base[:9]}, where {landing.branch!r} is"
    )


def has_landed(git: Writer, landing: Landing) -> bool:
    return git.is_ancestor(landing.commit, f"refs/heads/{landing.branch}")


def unit_branch_name(lane: str, unit: str) -> str:
    """The branch that a unit's work is delivered on, for those who merge by pull request."""
    return "/".join(["dos", _readable(lane), *map(_readable, unit.split("/"))])


def _readable(word: str) -> str:
    """As people wrote it, where git takes that for a part of a branch's name."""
    return (
        word
        if _PLAIN_WORD.fullmatch(word) and not word.endswith((".", ".lock")) and ".." not in word
        else slug(word)
    )


def on_unit_branch(lane: str, landing: Landing) -> Landing:
    """The same work, to be delivered on the unit's own branch: `has_landed` then asks for that one."""
    return structs.replace(landing, branch=unit_branch_name(lane, landing.unit))


def move_unit_branch(git: Writer, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """Make the unit's branch, or move it when the work holds all that it holds. Nobody's files come along."""
    if not git.commit_of(landing.commit):
        return NotLanded(reason=f"commit {landing.commit[:9]} is not there any more")
    if landing.branch != unit_branch_name(
        lane, landing.unit
    ):  # intended before the setting was changed
        return NotLanded(
            reason=f"it was to land on {landing.branch!r}, and work is delivered on branches of its own now"
        )
    there = git.commit_of(f"refs/heads/{landing.branch}")
    if there == landing.commit:
        return check_fence(git, lane, fence)
    if there and not commits.is_fast_forward(git, there, landing.commit):
        why = f"the branch {landing.branch!r} holds other work ({there[:9]}); merge it or delete it first"
        return NotLanded(reason=why, obstacle=True)
    if there and (trees := _trees_on(git, landing.branch)):
        why = f"the branch {landing.branch!r} is checked out in {trees[0].tree}"
        return NotLanded(reason=why, retryable=True, obstacle=True)
    return _swap(
        git, lane, fence, structs.replace(landing, base=there or "0" * len(landing.commit))
    )


def unmerged_unit_branches(git: Writer, target: str) -> dict[str, str]:
    """The branches that were delivered on and are not in the target yet, each with its commit."""
    words = (
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        f"--no-merged=refs/heads/{target}",
    )
    found = (line.split(" ", 1) for line in git.run(*words, "refs/heads/dos/").splitlines())
    return {name.removeprefix("refs/heads/"): commit for commit, name in found}


def check_fence(git: Writer, lane: str, fence: int) -> NotLanded | None:
    """Nothing has to be moved; only a stale worker may not say that it was."""
    if _is_newest(git, lane, fence):
        return None
    return NotLanded(reason=f"git knows a newer fence of lane {lane!r} than {fence}")


def unfinished_operation(tree: Writer) -> str | None:
    directory = Path(tree.run("rev-parse", "--absolute-git-dir").strip())
    return next((name for name in UNFINISHED if (directory / name).exists()), None)


def _mine(git: Writer, fence: int) -> str:
    """The object that a fence of ours is."""
    return git.run("hash-object", "--stdin", feed=f"fence={fence}\n").strip()


def _is_newest(git: Writer, lane: str, fence: int) -> bool:
    return git.object_of(fence_ref(lane)) == _mine(git, fence)


def _swap(git: Writer, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """My fence is still the newest, the branch is still where I saw it, and now it is here."""
    branch, absent = f"refs/heads/{landing.branch}", "0" * len(landing.commit)
    why = git.swap_ref(
        branch,
        landing.commit,
        landing.base,
        verified=f"verify {fence_ref(lane)} {_mine(git, fence)}\n",
        message=f"dos: land {landing.unit}",
    )
    if not why:
        return None
    moved = (git.commit_of(branch) or absent) != landing.base
    reason = f"git refused to move {landing.branch!r}: {why}"
    return NotLanded(
        reason=reason, retryable=moved or _is_newest(git, lane, fence), branch_moved=moved
    )


def _trees_on(git: Writer, branch: str) -> list[Writer]:
    """The work trees in which a branch is checked out."""
    found = []
    for lines in adding.list_worktrees(git):
        if f"branch refs/heads/{branch}" in lines and "bare" not in lines:
            path = Path(lines[0].removeprefix("worktree "))
            found += [Writer(path)] if path.is_dir() else []
    return found


def _is_there(tree: Writer, landing: Landing) -> bool:
    """The files came along before, and the worker died before the branch did."""
    changed = set(tree.paths_between(landing.base, landing.commit))
    return not changed & set(tree.paths_differing_from(landing.commit))


def _in_the_way(tree: Writer, landing: Landing) -> str | None:
    """Whatever of the user's would be harmed, or would undo the landing with the next commit."""
    if begun := unfinished_operation(tree):
        return f"{tree.tree} is in the middle of something ({begun})"
    changed = tree.paths_between(landing.base, landing.commit)
    if edited := sorted(set(changed) & set(tree.dirty_paths())):
        return f"{edited[0]} has changes in {tree.tree} that nobody committed"
    hidden = next(iter(untracked_obstacles(tree, landing.base, changed)), None)
    return f"{hidden} is in {tree.tree} and git ignores it" if hidden else None


def untracked_obstacles(tree: Writer, commit: str, new: Iterable[str]) -> list[str]:
    """Files of the user's, ignored ones too, that stand where new ones would be written, or on the way there."""
    tracked = set(tree.paths_of(commit))
    found: dict[str, None] = {}
    for path in new:
        for place in () if path in tracked else (path, *_folders(path)):
            at = tree.tree / place
            if (
                place not in tracked
                and os.path.lexists(at)
                and (place == path or at.is_symlink() or not at.is_dir())
            ):
                found[place] = None
    return list(found)


def _folders(path: str) -> list[str]:
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]


def _take_back(brought: list[Writer], landing: Landing) -> None:
    """Leave the trees as they were. They are the user's: it is worth waiting for their index."""
    for tree in brought:
        try:
            _read_tree(tree, landing.commit, landing.base)
        except GitFailed as error:
            raise GitFailed(
                f"{tree.tree} holds the files of {landing.unit}, which did not land: {error.message}",
                hint=f"git -C {tree.tree} read-tree -m -u {landing.commit} {landing.base}",
            ) from error


def _restore(git: Writer, landing: Landing) -> None:
    """Take the files of a landing that never happened out of the trees again, where a worker died on the way."""
    at = git.commit_of(f"refs/heads/{landing.branch}")
    if at is None or git.is_ancestor(landing.commit, at):
        return
    for tree in _trees_on(git, landing.branch):
        if _is_there(tree, landing) and set(tree.paths_between(at, landing.commit)) & set(
            tree.staged_paths()
        ):
            _take_back([tree], structs.replace(landing, base=at))


def _read_tree(tree: Writer, old: str, new: str) -> None:
    """Bring the files of a tree from one commit to another, or raise GitFailed and leave them as they are.

    An index that somebody else has locked is waited for: the user's own git holds it for moments only.
    """
    words = ("read-tree", "-m", "-u", old, new)
    deadline = time.monotonic() + INDEX_SECONDS
    for failures in count(1):
        done = tree.run_once(*words)
        if done.returncode == 0:
            return
        locked = next((line for line in done.stderr.splitlines() if "index.lock" in line), "")
        if not locked:
            tree.run(*words)  # which asks a git that died once more
            return
        if time.monotonic() >= deadline:
            raise GitFailed(f"the index stayed locked for {INDEX_SECONDS:g} s: {locked}")
        time.sleep(_INDEX_PAUSES.delay(failures))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def _fence(git: Writer, blob: str) -> int:
    text = git.run("cat-file", "blob", blob).strip()
    return int(text.removeprefix("fence="))
