"""What an agent did, from git and exit codes alone."""

import subprocess
from pathlib import Path

from dos.records import regions
from dos.records.leases import Lease
from dos.runtime.effects import Measured, Worktree
from dos.sources.git import Git

ACCEPTANCE_SECONDS = 600.0


def measure(worktree: Worktree, lease: Lease, acceptance: str, prefix: str = "") -> Measured:
    inside = Git(Path(worktree.path))
    head = inside.run("rev-parse", "HEAD").strip()
    if not inside.is_ancestor(worktree.base, head):
        return Measured(
            head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail="its base was rewritten away"
        )
    paths = inside.paths_between(worktree.base, head)
    outside = strays(inside, worktree.base, head, lease, prefix)
    accepted, detail = accept(inside.tree, acceptance) if paths and not outside else (None, "")
    return Measured(
        head=head,
        commits=inside.commits_between(worktree.base, head),
        strays=outside,
        changed_paths=len(paths),
        accepted=accepted,
        detail=detail,
    )


def strays(inside: Git, base: str, head: str, lease: Lease, prefix: str = "") -> list[str]:
    """The changed paths that lie outside of the lane, whose globs start where dos.toml is."""
    return [
        _readable(path)
        for path in inside.paths_between(base, head)
        if not path.startswith(prefix) or not regions.contains_path(lease.region, path.removeprefix(prefix))
    ]


def accept(tree: Path, command: str) -> tuple[bool | None, str]:
    """Run the acceptance command on a tree; None when there is none."""
    if not command:
        return None, ""
    try:
        done = subprocess.run(
            command, shell=True, cwd=tree, capture_output=True, text=True, errors="replace", timeout=ACCEPTANCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {ACCEPTANCE_SECONDS:g} s"
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return done.returncode == 0, f"exit {done.returncode}" + (f", {said[-1][:200]}" if said else "")


def _readable(path: str) -> str:
    """A file name need not be text, and the journal holds only text."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
