"""Each lane works in a worktree of its own. Nothing in one is removed before it is saved on a ref."""

import shutil
from pathlib import Path

from dos.errors import GitFailed
from dos.records.names import slug
from dos.runtime.effects import Salvage, Worktree
from dos.sources.git import AS_DOS, Git


def prepare(git: Git, state: Path, *, lane: str, run_id: str, target: str) -> Worktree:
    """A clean worktree at the target branch's head, on a branch of this run's own."""
    path = state / "worktrees" / slug(lane)
    base = git.commit_of(f"refs/heads/{target}")
    if base is None:
        raise GitFailed(
            f"the target branch {target!r} has no commit", hint=f"Commit something first: git -C {git.tree} commit"
        )
    branch = f"dos/{slug(lane)}/{run_id.lower()}"
    salvaged: list[Salvage] = []
    if (path / ".git").exists():
        inside = Git(path)
        salvaged = save(inside, run_id=run_id, why="left by an earlier run", base=base)
        inside.run("checkout", "--quiet", "--force", "-B", branch, base)
        clear(inside, base)
    else:
        shutil.rmtree(path, ignore_errors=True)  # a worktree that was never finished holds nothing of anybody's
        git.run("worktree", "prune")
        git.run("worktree", "add", "--quiet", "--force", "-B", branch, str(path), base)
    return Worktree(path=str(path), branch=branch, target=target, base=base, salvaged=salvaged)


def save(inside: Git, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Put what would be lost on refs: commits that no branch of the target holds, and changes nobody committed."""
    saved: list[Salvage] = []
    head = inside.commit_of("HEAD")
    if head and not inside.is_ancestor(head, base):
        saved.append(_keep(inside, run_id, head, f"{why}: commits"))
    if inside.dirty_paths():
        # A commit of everything that is not ignored, on no branch: the files themselves are not touched.
        inside.run("add", "--all")
        tree = inside.run("write-tree").strip()
        commit = inside.run(*AS_DOS, "commit-tree", tree, "-p", head or base, "-m", f"Salvaged by dos: {why}").strip()
        saved.append(_keep(inside, run_id, commit, f"{why}: uncommitted changes"))
    return saved


def clear(inside: Git, commit: str) -> None:
    """Back to a commit. Only after `save`. Ignored files stay: they are caches, and a build without them is slow."""
    inside.run("reset", "--quiet", "--hard", commit)
    inside.run("clean", "-ffdq")


def _keep(inside: Git, run_id: str, commit: str, why: str) -> Salvage:
    number = len(inside.run("for-each-ref", "--format=x", f"refs/dos/salvage/{run_id}/").split()) + 1
    ref = f"refs/dos/salvage/{run_id}/{number}"
    inside.run("update-ref", "--create-reflog", ref, commit, "")
    return Salvage(ref=ref, commit=commit, why=why)
