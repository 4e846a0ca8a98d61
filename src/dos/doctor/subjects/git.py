"""Git and the repository: what workers need before the first unit can land.

That is a git that can merge without a work tree, a repository that it may read, an identity to
commit with, a first commit, and a branch to land on.
"""

import re
import shutil
from functools import lru_cache, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct

from dos.config import fix_commands
from dos.doctor.subjects.finding import (
    Finding,
    error,
    git_command,
    install_command,
    run_concurrently,
    warning,
)
from dos.errors import GitFailed
from dos.git.process import ReadCommand, version
from dos.git.repository import SALVAGE_REFS, Reader
from dos.unknown import Unknown
from dos.world import World

if TYPE_CHECKING:
    from subprocess import CompletedProcess

OLDEST = (2, 38)  # has `git merge-tree --write-tree`
COMMITS_READ = 50  # the newest, to see whether they name units
WORKTREES = ("--porcelain", "-z")  # the options of `git worktree list`
_NO_COMMIT = "does not have any commits yet"
_LOG_FORMAT = "--format=%s%x00%(trailers:key=Unit,valueonly,separator=%x2c)%x01"


class RepositoryFacts(Struct, frozen=True, kw_only=True):
    """What git reports of the repository, read once for the report and the findings."""

    version: tuple[int, ...] | Unknown
    refusal: str = ""  # why git refuses to read the repository
    branch: str = ""  # empty: no branch is checked out, or it is not known
    commits: tuple[tuple[str, str], ...] = ()  # the newest: subject, and units in its trailers
    tracked: tuple[str, ...] = ()
    worktrees: str = ""  # as `git worktree list` prints them
    salvaged: int = 0  # refs that hold saved work
    knows_who_commits: bool = True


@lru_cache(maxsize=1)
def repository(world: World) -> RepositoryFacts:
    """Return what git reports of the repository, asking for all of it concurrently.

    A repository that git refuses to read has only the version and the refusal.
    """
    if world.workspace.common is None or shutil.which("git") is None:
        return RepositoryFacts(version=version())
    ask = partial(_git_output, world.git)
    git_version, branch, log, identity, files, worktrees, salvaged = run_concurrently(
        [
            version,
            # Work lands on the branch of the main checkout, also for a caller in a worktree.
            partial(_branch, Reader(world.workspace.root)),
            partial(ask, "log", f"-{COMMITS_READ}", _LOG_FORMAT),
            partial(ask, "var", "GIT_COMMITTER_IDENT"),
            partial(ask, "ls-files", "-z", "--full-name", ":/"),
            partial(ask, "worktree list", *WORKTREES),
            partial(ask, "for-each-ref", "--format=x", SALVAGE_REFS),
        ]
    )
    for output in (log, files, worktrees):
        if output.returncode > 1:
            if _NO_COMMIT in output.stderr:
                break
            lines = output.stderr.strip().splitlines() or ["no reason given"]
            return RepositoryFacts(version=git_version, refusal=lines[0])
    return RepositoryFacts(
        version=git_version,
        branch=branch,
        commits=_parse_log(log.stdout),
        tracked=tuple(filter(None, files.stdout.split("\0"))),
        worktrees=worktrees.stdout,
        salvaged=len(salvaged.stdout.split()),
        knows_who_commits=identity.returncode == 0,
    )


def _parse_log(output: str) -> tuple[tuple[str, str], ...]:
    """The subject and the unit trailers of each commit."""
    commits = []
    for record in output.split("\x01"):
        if record.strip():
            subject, _, trailers = record.lstrip("\n").partition("\0")
            commits.append((subject, trailers))
    return tuple(commits)


def _branch(reader: Reader) -> str:
    """The branch that is checked out; empty if there is none or git refuses."""
    try:
        return reader.branch() or ""
    except GitFailed:
        return ""  # the other commands fail too, and say why


def _git_output(reader: Reader, command: ReadCommand, *words: str) -> "CompletedProcess[str]":
    """Run git and return its output, also when it refuses: the refusal is what is reported."""
    try:
        return reader.attempt(command, *words)
    except GitFailed:
        return reader.run_once(command, *words)


def is_usable(world: World) -> bool:
    """Whether git can be asked at all.

    If not, `examine` says why, and no other subject repeats it.
    """
    facts = repository(world)
    if isinstance(facts.version, Unknown) or world.workspace.common is None:
        return False
    return not facts.refusal


def examine(world: World) -> list[Finding]:
    """Return what is wrong with git, the repository, the identity and the target branch."""
    facts = repository(world)
    if isinstance(facts.version, Unknown):
        what = f"git cannot be used: {facts.version.why}"
        if shutil.which("git") is None:
            what = "git is not installed, or not on the path"
        why = "Agents work in git worktrees, and dos verifies their work by its commits."
        return [error("GIT_MISSING", what, why, install_command("git"))]
    if facts.version[:2] < OLDEST:
        installed = ".".join(map(str, facts.version))
        what = f"git is {installed}, and at least {'.'.join(map(str, OLDEST))} is needed"
        why = "Older versions cannot merge without a work tree."
        return [error("GIT_TOO_OLD", what, why, install_command("git"))]
    return _examine_repository(world, facts)


def _examine_repository(world: World, facts: RepositoryFacts) -> list[Finding]:
    """What keeps work from being verified and landed in this repository."""
    workspace = world.workspace
    if workspace.common is None:
        return [_not_a_repository(world)]
    if facts.refusal:
        what = f"git refuses to read {workspace.tree}: {facts.refusal}"
        fix = _make_readable_command(world, facts.refusal)
        return [error("GIT_REFUSES", what, "dos cannot read any commit.", fix)]
    # The identity comes first: without it the first commit cannot be made.
    return [*_examine_identity(world, facts), *_examine_target(world, facts)]


def _not_a_repository(world: World) -> Finding:
    """The error for a directory without a work tree, also for a bare repository."""
    root = world.workspace.root
    is_bare = (root / "HEAD").is_file() and (root / "objects").is_dir()
    if is_bare:
        what = f"{root} is a bare repository: it has no files to work on"
        fix = f"git clone {quote(str(root))} {quote(f'{root}.work')}"
    else:
        what = f"{root} is not in a git repository"
        fix = git_command(world, "init")
    return error("NOT_A_REPOSITORY", what, "Nothing can be verified or landed here.", fix)


def _make_readable_command(world: World, refusal: str) -> str:
    """A command that removes the cause of git's refusal, or that shows more of it.

    Known causes are another owner of the repository, a broken config file, and an empty HEAD.
    """
    workspace = world.workspace
    common = workspace.common or workspace.tree
    if "dubious ownership" in refusal:
        return f"git config --global --add safe.directory {quote(str(workspace.tree))}"
    bad_line = re.search(r"bad config line (\d+) in file (.+)", refusal)
    if bad_line:
        return fix_commands.edit_command(workspace.tree / bad_line[2], int(bad_line[1]))
    head = common / "HEAD"
    if not re.match(r"ref: |[0-9a-f]{40}", head.read_text(encoding="utf-8", errors="replace")):
        # A power cut leaves HEAD empty.
        branch = _likely_branch(common / "refs" / "heads")
        return f"printf 'ref: refs/heads/%s\\n' {quote(branch)} > {quote(str(head))}"
    moves = common / "logs" / "HEAD"
    if moves.is_file():
        return f"tail -n 20 {quote(str(moves))}"
    return f"ls -la {quote(str(common))}"


def _likely_branch(heads: Path) -> str:
    """The branch that HEAD probably named before it was damaged."""
    for name in ("main", "master"):
        if (heads / name).exists():
            return name
    for path in sorted(heads.glob("*")):
        return path.name
    return "main"


def _examine_identity(world: World, facts: RepositoryFacts) -> list[Finding]:
    """Whether git knows a name and an address to commit with.

    Without a first commit it is an error, because that commit cannot be made.
    """
    if facts.knows_who_commits:
        return []
    values = {"user.name": '"$(id -un)"', "user.email": '"$(id -un)@$(uname -n)"'}
    missing = [key for key in values if not world.git.attempt("config --get", key).stdout.strip()]
    steps = [git_command(world, f"config {key} {values[key]}") for key in missing or values]
    severity = warning if facts.commits else error
    return [
        severity(
            "GIT_IDENTITY_MISSING",
            "git has no user.name or user.email to commit with",
            "Agents that set no identity themselves cannot commit.",
            " && ".join(steps),
        )
    ]


def _examine_target(world: World, facts: RepositoryFacts) -> list[Finding]:
    """Whether there is a commit to start from and a branch to land on."""
    if not facts.commits:
        what = "the repository has no commit yet"
        fix = git_command(world, "commit --allow-empty -m 'First commit'")
        return [error("NO_COMMIT", what, "A worker starts from a commit.", fix)]
    branch = world.config.workers.target_branch or facts.branch
    why = "Finished work has no branch to land on."
    if not branch:
        what = "no branch is checked out, and [workers] target_branch is not set"
        return [error("NO_TARGET_BRANCH", what, why, _choose_target_command(world))]
    if branch != facts.branch and world.git.commit_of(f"refs/heads/{branch}") is None:
        what = f"the target branch {branch!r} does not exist"
        return [error("TARGET_BRANCH_MISSING", what, why, _make_target_command(world, branch))]
    return []


def _choose_target_command(world: World) -> str:
    """A command that targets main or master, else the branch with the newest commit, else a new
    one.
    """
    newest_first = world.git.run(
        "for-each-ref", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads"
    )
    branches = newest_first.split()
    if not branches:
        return git_command(world, "switch -c main")
    chosen = branches[0]
    for name in ("master", "main"):
        if name in branches:
            chosen = name
    return fix_commands.set_command(("workers", "target_branch"), chosen)


def _make_target_command(world: World, branch: str) -> str:
    """A command that creates the branch, or that unsets a name that git cannot have."""
    unset = fix_commands.unset_command(("workers", "target_branch"))
    checked = world.git.attempt("check-ref-format", "--branch", branch).stdout.strip()
    if checked != branch:
        return unset
    # Git stores branches as files: neither a parent folder nor a subfolder may be a branch.
    parents = [str(path) for path in Path(branch).parents if path.name]
    if any(world.git.commit_of(f"refs/heads/{name}") for name in parents):
        return unset
    if world.git.run("for-each-ref", f"refs/heads/{branch}/"):
        return unset
    return git_command(world, f"branch {quote(branch)}")
