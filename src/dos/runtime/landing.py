"""Bringing a unit's commits onto the target branch. Git keeps the fence too, so git itself refuses a stale worker."""

from pathlib import Path

from dos.errors import Fenced, GitFailed
from dos.records.names import slug
from dos.runtime.effects import Landing, NotLanded, Worktree
from dos.sources.git import AS_DOS, Git

ZERO = "0" * 40


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
            raise Fenced(f"git knows a newer fence for lane {lane!r} than {fence}")
        if git.attempt("update-ref", ref, mine, old or ZERO).returncode == 0:
            return
    raise GitFailed(f"{ref} would not stand still", hint="Look for another program that writes it.")


def prepare(unit: str, worktree: Worktree) -> Landing | NotLanded:
    """What would be landed: the worktree's head, brought on top of the target when that has moved."""
    inside = Git(Path(worktree.path))
    target = inside.commit_of(f"refs/heads/{worktree.target}")
    if target is None:
        return NotLanded(reason=f"the target branch {worktree.target!r} is gone")
    if target != worktree.base:
        done = inside.attempt(*AS_DOS, "rebase", "--quiet", "--onto", target, worktree.base)
        if done.returncode != 0:
            inside.attempt("rebase", "--abort")
            return NotLanded(reason=f"it does not fit on {worktree.target!r} any more, which has moved to {target[:9]}")
    head = inside.run("rev-parse", "HEAD").strip()
    return Landing(unit=unit, branch=worktree.target, old=target, new=head)


def move_branch(git: Git, *, lane: str, fence: int, landing: Landing) -> NotLanded | None:
    """One ref transaction: my fence is still the newest, the branch is still where I saw it, and now it is here."""
    mine = git.run("hash-object", "--stdin", feed=f"fence={fence}\n").strip()
    branch = f"refs/heads/{landing.branch}"
    if not git.commit_of(landing.new):
        return NotLanded(reason=f"commit {landing.new[:9]} is not there any more")
    script = f"start\nverify {fence_ref(lane)} {mine}\nupdate {branch} {landing.new} {landing.old}\nprepare\ncommit\n"
    done = git.attempt("update-ref", "--create-reflog", "-m", f"dos: land {landing.unit}", "--stdin", feed=script)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return NotLanded(reason=f"git refused to move {landing.branch!r}: {said[-1] if said else 'no reason given'}")
    _bring_along(git, landing)
    return None


def has_landed(git: Git, landing: Landing) -> bool:
    return git.is_ancestor(landing.new, f"refs/heads/{landing.branch}")


def _bring_along(git: Git, landing: Landing) -> None:
    """If the main work tree is on the branch, its files follow; a file the user is editing stays as it is."""
    if git.branch() == landing.branch:
        git.attempt("read-tree", "-m", "-u", landing.old, landing.new)


def _fence(git: Git, blob: str) -> int:
    text = git.run("cat-file", "blob", blob).strip()
    return int(text.removeprefix("fence="))
