"""The form of the repository: what lanes get of a partial clone and of large files (Git LFS)."""

import shutil
from fnmatch import fnmatchcase

from dos.config import fix_commands
from dos.doctor.subjects.finding import Finding, git_command, install_command, note, warning
from dos.doctor.subjects.git import is_usable, repository
from dos.git import partial_clone
from dos.landing.lane import large_files
from dos.text import plural
from dos.world import World

_FILTER_KEYS = ("filter.lfs.process", "filter.lfs.smudge")


def examine(world: World) -> list[Finding]:
    """Return what lanes lack because of the form of the repository."""
    if not is_usable(world) or not repository(world).commits:
        return []
    return [*_partial_clone(world), *_large_files(world)]


def _partial_clone(world: World) -> list[Finding]:
    """What a partial clone lacks: workers fetch what is needed to start, and nothing else."""
    remotes = partial_clone.promisor_remotes(world.git)
    if not remotes:
        return []
    fix = git_command(world, partial_clone.complete_command(remotes[0]))
    missing = partial_clone.missing_objects(world.git, "HEAD")
    if missing:
        what = f"this partial clone lacks {plural(len(missing), 'object')} of HEAD"
        why = (
            f"Workers cannot start unless {remotes[0]} can be reached: they fetch what is missing."
        )
        return [warning("PARTIAL_CLONE_MISSING", what, why, fix)]
    what = "this is a partial clone, and lanes have no remote"
    why = "Commands of agents that need old files fail, such as `git log -p` and `git blame`."
    return [note("PARTIAL_CLONE", what, why, fix)]


def _large_files(world: World) -> list[Finding]:
    """Whether large files are in lanes as they are in the checkout."""
    if not large_files.are_tracked(world.git, "HEAD"):
        return []
    why = "Agents and their git see pointers of a few lines in place of the content."
    if shutil.which("git-lfs") is None:
        what = "the repository has files of Git LFS, and git-lfs is not installed"
        return [note("LFS_POINTERS", what, why, install_command("git-lfs"))]
    if not _lanes_have_filter(world):
        fix = fix_commands.set_command(
            ("workers", "git_config"), [*world.config.workers.git_config, "filter.lfs.*"]
        )
        if not _has_filter(world, "--global"):
            fix = f"git lfs install --skip-repo && {fix}"
        what = (
            "files of Git LFS are pointers in lanes: [workers] git_config does not name its filter"
        )
        return [note("LFS_POINTERS", what, why, fix)]
    missing = large_files.missing_files(world.git, world.workspace.common, "HEAD")
    if not missing:
        return []
    what = (
        f"the content of {plural(len(missing), 'file')} of Git LFS is missing, such as {missing[0]}"
    )
    why = "Workers cannot start: git-lfs cannot check the files out in a lane."
    return [warning("LFS_MISSING", what, why, git_command(world, "lfs fetch"))]


def _lanes_have_filter(world: World) -> bool:
    """Whether the git in lanes has the filter: of the system, or of the user and named."""
    if _has_filter(world, "--system"):
        return True
    patterns = world.config.workers.git_config
    is_named = any(fnmatchcase(key, pattern) for key in _FILTER_KEYS for pattern in patterns)
    return is_named and _has_filter(world, "--global")


def _has_filter(world: World, scope: str) -> bool:
    keys = world.git.attempt("config --get-regexp", scope, large_files.FILTER)
    return keys.returncode == 0
