"""What an agent did, from git and exit codes alone."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from dos.records import regions
from dos.records.leases import Lease
from dos.records.moments import second_stamp
from dos.records.names import as_text
from dos.records.receipts import CommandRun
from dos.runtime import running
from dos.runtime.effects import Measured, Worktree
from dos.sources.git import Reader
from dos.sources.history import ancestry

OUTPUT_LINES = 40  # of a command, for whoever asks what it said


class Accepted(Struct, frozen=True, kw_only=True):
    passed: bool | None = None  # None: there was no command
    detail: str = ""
    run: CommandRun | None = None
    output: list[str] = []  # its last lines


Accept = Callable[[Path], Accepted]
Doubt = Callable[[str], str]  # of a head: why it does not show the unit


def certain(head: str) -> str:
    return ""


def measure(worktree: Worktree, lease: Lease, accept: Accept, prefix: str = "", *, doubt: Doubt = certain) -> Measured:
    inside = Reader(Path(worktree.path))
    head = inside.run("rev-parse", "HEAD").strip()
    if flaw := unfounded(inside, worktree.base, head):
        return Measured(head=head, commits=[], strays=[], changed_paths=0, accepted=None, detail=flaw)
    paths = inside.paths_between(worktree.base, head)
    outside = strays(inside, worktree.base, head, lease, prefix)
    answer = accept(inside.tree) if paths and not outside else Accepted()
    return Measured(
        head=head,
        commits=inside.commits_between(worktree.base, head),
        strays=outside,
        changed_paths=len(paths),
        accepted=answer.passed,
        detail=answer.detail,
        unproven=doubt(head) if paths and not outside and answer.passed is not False else "",
        run=answer.run,
    )


def unfounded(inside: Reader, base: str, head: str) -> str:
    """Why the commits from a base to a head cannot be counted; empty when they can."""
    if cut := ancestry.hidden(inside, base, head):
        return cut
    return "" if ancestry.follows(inside, base, head) else "its base was rewritten away"


def strays(inside: Reader, base: str, head: str, lease: Lease, prefix: str = "") -> list[str]:
    """The changed paths that lie outside of the lane, whose globs start where dos.toml is."""
    changed = inside.paths_between(base, head)
    return [as_text(path) for path in changed if not regions.lane_holds(lease.region, path, prefix)]


def accept(
    tree: Path, command: str, environment: dict[str, str], seconds: float, stopped: Callable[[], bool] = running.never
) -> Accepted:
    """Run a command on a tree and take its exit code for the answer."""
    started, limits = now(), running.Limits(wall_seconds=seconds)
    ran = running.run(["sh", "-c", command], cwd=tree, environment=environment, limits=limits, stopped=stopped)
    code = None if ran.why else ran.exit_code
    output = ran.lines[-OUTPUT_LINES:]
    run = CommandRun(script=command, exit_code=code, output_digest=ran.output_digest, started=started, ended=now())
    if ran.timed_out:
        return Accepted(passed=False, detail=f"no answer within {seconds:g} s", run=run, output=output)
    said = next((line.strip() for line in reversed(ran.lines) if line.strip()), "")
    detail = f"exit {ran.exit_code}" + (f", {said[:200]}" if said else "")
    return Accepted(passed=ran.exit_code == 0, detail=detail, run=run, output=output)


def now() -> str:
    return second_stamp(int(datetime.now(UTC).timestamp() * 1000))
