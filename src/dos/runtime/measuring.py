"""What an agent did, from git and exit codes alone."""

from collections.abc import Callable
from pathlib import Path

from dos.records import regions
from dos.records.leases import Lease
from dos.runtime import running
from dos.runtime.effects import Measured, Worktree
from dos.sources.git import Git

Accept = Callable[[Path], tuple[bool | None, str]]


def measure(worktree: Worktree, lease: Lease, accept: Accept, prefix: str = "") -> Measured:
    inside = Git(Path(worktree.path))
    head = inside.run("rev-parse", "HEAD").strip()
    if not inside.is_ancestor(worktree.base, head):
        return Measured(
            head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail="its base was rewritten away"
        )
    paths = inside.paths_between(worktree.base, head)
    outside = strays(inside, worktree.base, head, lease, prefix)
    accepted, detail = accept(inside.tree) if paths and not outside else (None, "")
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
        # A backslash in one of git's names is part of the name; in a glob it would part folders.
        if "\\" in path or not path.startswith(prefix) or not regions.contains_path(lease.region, path[len(prefix) :])
    ]


def accept(
    tree: Path, command: str, environment: dict[str, str], seconds: float, stopped: Callable[[], bool] = running.never
) -> tuple[bool | None, str]:
    """Run a command on a tree and take its exit code for the answer; None when there is no command."""
    if not command:
        return None, ""
    limits = running.Limits(wall_seconds=seconds)
    ran = running.run(["sh", "-c", command], cwd=tree, environment=environment, limits=limits, stopped=stopped)
    if ran.timed_out:
        return False, f"no answer within {seconds:g} s"
    said = next((line.strip() for line in reversed(ran.lines) if line.strip()), "")
    return ran.exit_code == 0, f"exit {ran.exit_code}" + (f", {said[:200]}" if said else "")


def _readable(path: str) -> str:
    """A file name need not be text, and the journal holds only text."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
