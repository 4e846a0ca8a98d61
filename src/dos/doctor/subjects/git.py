"""Git and the repository: what workers need before the first of them can land anything."""

import re
import shutil
from functools import lru_cache, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct

from dos.config import fix_commands
from dos.doctor.subjects import finding
from dos.doctor.subjects.finding import Finding, error, git_command, install_command, warning
from dos.errors import GitFailed
from dos.git.exit_codes import ReadCommand
from dos.git.repository import Reader, version
from dos.unknown import Unknown
from dos.world import World

if TYPE_CHECKING:
    from subprocess import CompletedProcess

OLDEST = (2, 38)
COMMITS_READ = 50
SALVAGE = "refs/dos/salvage"
WORKTREES = ("--porcelain", "-z")  # as they are to be listed
_NO_COMMIT = "does not have any commits yet"
_SHAPE = "--format=%s%x00%(trailers:key=Unit,valueonly,separator=%x2c)%x01"


class RepositoryFacts(Struct, frozen=True, kw_only=True):
    """What git says of it, asked once for the report and the findings."""

    version: tuple[int, ...] | Unknown
    refusal: str = ""  # why git will not read it
    branch: str = ""  # empty: none is checked out, or nobody can say
    commits: tuple[
        tuple[str, str], ...
    ] = ()  # the newest: subject, and the units that its trailers name
    tracked: tuple[str, ...] = ()
    worktrees: str = ""
    salvaged: int = 0
    knows_who_commits: bool = True


@lru_cache(maxsize=1)
def repository(world: World) -> RepositoryFacts:
    if world.workspace.common is None or shutil.which("git") is None:
        return RepositoryFacts(version=version())
    tell = partial(_git_output, world.git)
    git_version, branch, log, who, files, worktrees, salvaged = finding.run_concurrently(
        [
            version,
            partial(_branch, world.git),
            partial(tell, "log", f"-{COMMITS_READ}", _SHAPE),
            partial(tell, "var", "GIT_COMMITTER_IDENT"),
            partial(tell, "ls-files", "-z", "--full-name", ":/"),
            partial(tell, "worktree list", *WORKTREES),
            partial(tell, "for-each-ref", "--format=x", SALVAGE),
        ]
    )
    failed = next((each for each in (log, files, worktrees) if each.returncode > 1), None)
    if failed and _NO_COMMIT not in failed.stderr:
        said = (failed.stderr.strip().splitlines() or ["no reason given"])[0]
        return RepositoryFacts(version=git_version, refusal=said)
    records = (
        record.lstrip("\n").partition("\0") for record in log.stdout.split("\x01") if record.strip()
    )
    return RepositoryFacts(
        version=git_version,
        branch=branch,
        commits=tuple((subject, trailers) for subject, _, trailers in records),
        tracked=tuple(filter(None, files.stdout.split("\0"))),
        worktrees=worktrees.stdout,
        salvaged=len(salvaged.stdout.split()),
        knows_who_commits=who.returncode == 0,
    )


def _branch(asked: Reader) -> str:
    try:
        return asked.branch() or ""
    except GitFailed:
        return ""  # the others say why


def _git_output(asked: Reader, command: ReadCommand, *words: str) -> "CompletedProcess[str]":
    """What git says also when it refuses: that is what is to be told then. One that dies is asked again first."""
    try:
        return asked.attempt(command, *words)
    except GitFailed:
        return asked.run_once(command, *words)


def is_usable(world: World) -> bool:
    """Whether git can be asked at all; if not, one finding says so for everybody."""
    seen = repository(world)
    return (
        not isinstance(seen.version, Unknown)
        and world.workspace.common is not None
        and not seen.refusal
    )


def examine(world: World) -> list[Finding]:
    seen = repository(world)
    if isinstance(seen.version, Unknown):
        what = f"git cannot be used: {seen.version.why}"
        why = "Every worker needs a worktree, and every proof is a commit."
        return [error("GIT_MISSING", what, why, install_command("git"))]
    if seen.version[:2] < OLDEST:
        what = f"git is {'.'.join(map(str, seen.version))}, and at least {'.'.join(map(str, OLDEST))} is needed"
        return [
            error(
                "GIT_TOO_OLD",
                what,
                "Older ones cannot merge without a work tree.",
                install_command("git"),
            )
        ]
    return _repository(world, seen)


def _repository(world: World, seen: RepositoryFacts) -> list[Finding]:
    workspace = world.workspace
    if workspace.common is None:
        bare = (workspace.root / "HEAD").is_file() and (workspace.root / "objects").is_dir()
        what = f"{workspace.root} is {'a bare repository: it has no files to work on' if bare else 'in no git repository'}"
        copied = f"git clone {quote(str(workspace.root))} {quote(f'{workspace.root}.work')}"
        fix = copied if bare else git_command(world, "init")
        return [error("NOT_A_REPOSITORY", what, "Nothing can be proven or landed here.", fix)]
    if seen.refusal:
        what = f"git refuses to read {workspace.tree}: {seen.refusal}"
        return [
            error(
                "GIT_REFUSES",
                what,
                "No verb can see a commit.",
                _make_readable_command(world, seen.refusal),
            )
        ]
    # Who commits comes first: without it the first commit cannot be made.
    return [*_identity(world, seen), *_target(world, seen)]


def _make_readable_command(world: World, refusal: str) -> str:
    workspace = world.workspace
    common = workspace.common or workspace.tree
    if "dubious ownership" in refusal:
        return f"git config --global --add safe.directory {quote(str(workspace.tree))}"
    if wrong := re.search(r"bad config line (\d+) in file (.+)", refusal):
        return fix_commands.edit_command(workspace.tree / wrong[2], int(wrong[1]))
    head = common / "HEAD"
    if not re.match(r"ref: |[0-9a-f]{40}", head.read_text(encoding="utf-8", errors="replace")):
        # As a power cut leaves it.
        heads = common / "refs" / "heads"
        known = next((name for name in ("main", "master") if (heads / name).exists()), "")
        branch = known or next((path.name for path in sorted(heads.glob("*"))), "main")
        return f"printf 'ref: refs/heads/%s\\n' {quote(branch)} > {quote(str(head))}"
    moves = common / "logs" / "HEAD"
    return f"tail -n 20 {quote(str(moves))}" if moves.is_file() else f"ls -la {quote(str(common))}"


def _identity(world: World, seen: RepositoryFacts) -> list[Finding]:
    if seen.knows_who_commits:
        return []
    values = {"user.name": '"$(id -un)"', "user.email": '"$(id -un)@$(uname -n)"'}
    missing = [key for key in values if not world.git.attempt("config --get", key).stdout.strip()]
    return [
        (warning if seen.commits else error)(
            "GIT_IDENTITY_MISSING",
            "git does not know who commits here",
            "Agents that do not bring a name of their own cannot commit.",
            " && ".join(
                git_command(world, f"config {key} {values[key]}") for key in missing or values
            ),
        )
    ]


def _target(world: World, seen: RepositoryFacts) -> list[Finding]:
    if not seen.commits:
        fix = git_command(world, "commit --allow-empty -m 'First commit'")
        return [
            error(
                "NO_COMMIT",
                "the repository has no commit yet",
                "A worker starts from a commit.",
                fix,
            )
        ]
    branch = world.config.workers.target_branch or seen.branch
    if not branch:
        what = "no branch is checked out, and [workers] target_branch names none"
        return [
            error(
                "NO_TARGET_BRANCH",
                what,
                "There is nothing to land on.",
                _choose_target_command(world),
            )
        ]
    if branch != seen.branch and world.git.commit_of(f"refs/heads/{branch}") is None:
        what = f"the target branch {branch!r} is not there"
        return [
            error(
                "TARGET_BRANCH_MISSING",
                what,
                "There is nothing to land on.",
                _make_target_command(world, branch),
            )
        ]
    return []


def _choose_target_command(world: World) -> str:
    """The branch that most repositories have, else the one that was worked on last, else a new one."""
    newest = world.git.run(
        "for-each-ref", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads"
    )
    known = newest.split()
    chosen = next((name for name in ("main", "master") if name in known), known[0] if known else "")
    return (
        fix_commands.set_command(("workers", "target_branch"), chosen)
        if chosen
        else git_command(world, "switch -c main")
    )


def _make_target_command(world: World, branch: str) -> str:
    """A branch of that name, where git can have one."""
    possible = world.git.attempt("check-ref-format", "--branch", branch).stdout.strip() == branch
    above = [str(path) for path in Path(branch).parents if path.name]
    taken = any(world.git.commit_of(f"refs/heads/{name}") for name in above)
    below = world.git.run("for-each-ref", f"refs/heads/{branch}/") if possible else ""
    if possible and not taken and not below:
        return git_command(world, f"branch {quote(branch)}")
    return fix_commands.unset_command(("workers", "target_branch"))
