"""Git and the repository: what workers need before the first of them can land anything."""

import shutil
import sys
from shlex import quote

from dos.evidence.health.finding import Finding, error, warning
from dos.records.unknown import Unknown
from dos.sources import git
from dos.sources.world import World

OLDEST = (2, 38)
_INSTALLERS = {
    "apt-get": "sudo apt-get install git",
    "dnf": "sudo dnf install git",
    "apk": "sudo apk add git",
    "pacman": "sudo pacman -S git",
    "zypper": "sudo zypper install git",
    "brew": "brew install git",
}


def examine(world: World) -> list[Finding]:
    version = git.version()
    if isinstance(version, Unknown):
        what = f"git cannot be used: {version.why}"
        return [error("GIT_MISSING", what, "Every worker needs a worktree, and every proof is a commit.", _install())]
    found = []
    if version[:2] < OLDEST:
        what = f"git is {'.'.join(map(str, version))}, and at least {'.'.join(map(str, OLDEST))} is needed"
        found.append(error("GIT_TOO_OLD", what, "Older ones cannot merge without a work tree.", _install()))
    return found + _repository(world)


def _repository(world: World) -> list[Finding]:
    place = world.workspace
    if place.common is None:
        what = f"{place.root} is in no git repository"
        return [error("NOT_A_REPOSITORY", what, "Nothing can be proven or landed here.", command(world, "init"))]
    asked = world.git.attempt("rev-parse", "--git-dir")
    if asked.returncode != 0:
        owner = "dubious ownership" in asked.stderr
        fix = (
            f"git config --global --add safe.directory {quote(str(place.tree))}" if owner else command(world, "status")
        )
        said = (asked.stderr.strip().splitlines() or ["no reason given"])[0]
        return [error("GIT_REFUSES", f"git refuses to read {place.tree}: {said}", "No verb can see a commit.", fix)]
    return [*_target(world), *_identity(world)]


def _target(world: World) -> list[Finding]:
    if world.git.commit_of("HEAD") is None:
        fix = command(world, "commit --allow-empty -m 'First commit'")
        return [error("NO_COMMIT", "the repository has no commit yet", "A worker starts from a commit.", fix)]
    named = world.config.workers.target_branch
    branch = named or world.git.branch()
    if not branch:
        known = next((name for name in ("main", "master") if world.git.commit_of(f"refs/heads/{name}")), "BRANCH")
        return [
            error(
                "NO_TARGET_BRANCH",
                "no branch is checked out, and [workers] target_branch names none",
                "There is nothing to land on.",
                f"dos config set workers.target_branch {known}",
            )
        ]
    if world.git.commit_of(f"refs/heads/{branch}") is None:
        what = f"the target branch {branch!r} is not there"
        return [
            error(
                "TARGET_BRANCH_MISSING", what, "There is nothing to land on.", command(world, f"branch {quote(branch)}")
            )
        ]
    return []


def _identity(world: World) -> list[Finding]:
    if world.git.attempt("var", "GIT_COMMITTER_IDENT").returncode == 0:
        return []
    return [
        warning(
            "GIT_IDENTITY_MISSING",
            "git does not know who commits here",
            "Agents that do not bring a name of their own cannot commit.",
            command(world, "config user.email you@example.org"),
        )
    ]


def command(world: World, words: str) -> str:
    """A git command that can be typed anywhere."""
    return f"git -C {quote(str(world.workspace.tree))} {words}"


def _install() -> str:
    found = next((command for program, command in _INSTALLERS.items() if shutil.which(program)), "")
    return found or ("xcode-select --install" if sys.platform == "darwin" else "open https://git-scm.com/downloads")
