"""Each lane works in a worktree of its own. Nothing in one is removed before it is saved."""

import shutil
from pathlib import Path

from dos.errors import GitFailed
from dos.records.names import slug
from dos.runtime.effects import Salvage, Worktree
from dos.sources.git import AS_DOS, Git


def prepare(git: Git, state: Path, *, lane: str, run_id: str, target: str) -> Worktree:
    """A clean worktree at the target branch's head, on no branch: no ref of the user's can be moved from it."""
    path = state / "worktrees" / slug(lane)
    base = git.commit_of(f"refs/heads/{target}")
    if base is None:
        raise GitFailed(
            f"the target branch {target!r} has no commit", hint=f"Commit something first: git -C {git.tree} commit"
        )
    salvaged: list[Salvage] = []
    if path.exists():
        inside = Git(path)
        try:
            salvaged += save_changes(inside, state, run_id=run_id, why="left by an earlier run")
            salvaged += save_commits(inside, run_id=run_id, why="left by an earlier run", base=base)
            clear(inside, base)
        except GitFailed as error:
            salvaged.append(_set_aside(path, state, run_id, f"could not be cleaned: {error}"))
    fresh = not path.exists()
    if fresh:
        git.attempt("worktree", "unlock", str(path))
        git.run("worktree", "prune")
        git.run("worktree", "add", "--quiet", "--force", "--detach", str(path), base)
    return Worktree(path=str(path), target=target, base=base, salvaged=salvaged, fresh=fresh)


def save_changes(inside: Git, state: Path, *, run_id: str, why: str) -> list[Salvage]:
    """Put what nobody committed on a ref, and leave the tree as its head is, on no branch."""
    if not (inside.tree / ".git").exists():
        raise GitFailed(f"{inside.tree} is not a worktree any more")
    head = inside.run("rev-parse", "HEAD").strip()
    inside.run("checkout", "--quiet", "--detach")
    # A repository inside of the repository: git would keep only its name.
    nested = [path for path in inside.dirty_paths() if path.endswith("/")]
    saved = [_set_aside(inside.tree / path, state, run_id, f"{why}: a nested repository") for path in nested]
    if inside.dirty_paths():
        # A commit of everything that is not ignored, on no branch.
        inside.run("add", "--all")
        tree = inside.run("write-tree").strip()
        commit = inside.run(*AS_DOS, "commit-tree", tree, "-p", head, "-m", f"Salvaged by dos: {why}").strip()
        saved.append(_keep(inside, run_id, commit, f"{why}: uncommitted changes"))
    clear(inside, head)
    return saved


def save_commits(inside: Git, *, run_id: str, why: str, base: str) -> list[Salvage]:
    """Put the head on a ref when neither the target nor another such ref holds it."""
    head = inside.run("rev-parse", "HEAD").strip()
    if inside.is_ancestor(head, base) or inside.run("for-each-ref", "--points-at", head, "refs/dos/salvage/").strip():
        return []
    return [_keep(inside, run_id, head, f"{why}: commits")]


def clear(inside: Git, commit: str) -> None:
    """To a commit. Only after `save_changes`. Ignored files stay: they are caches, and a build without them is slow."""
    inside.run("checkout", "--quiet", "--force", "--detach", commit)
    inside.run("reset", "--quiet", "--hard")
    inside.run("clean", "-fdq")  # with one f: never a repository


def _keep(inside: Git, run_id: str, commit: str, why: str) -> Salvage:
    number = len(inside.run("for-each-ref", "--format=x", f"refs/dos/salvage/{run_id}/").split()) + 1
    ref = f"refs/dos/salvage/{run_id}/{number}"
    inside.run("update-ref", "--create-reflog", ref, commit, "")
    return Salvage(ref=ref, commit=commit, why=why)


def _set_aside(path: Path, state: Path, run_id: str, why: str) -> Salvage:
    """What git cannot save is moved as it is."""
    place = state / "salvage" / run_id
    place.mkdir(parents=True, exist_ok=True)
    number = len(list(place.iterdir())) + 1
    target = place / f"{number}-{path.name}"
    shutil.move(path, target)
    return Salvage(ref=str(target), commit="", why=why)
