"""Which files were touched, by the caller's word or by git's."""

import os
from collections.abc import Sequence
from pathlib import PurePath

from dos.config.schema import Config
from dos.errors import BadInput, GitFailed
from dos.lanes import scope
from dos.lanes.io import lane as lanes
from dos.lanes.scope import Evidence
from dos.text import replace_undecodable
from dos.world import World


def gather(
    world: World,
    config: Config,
    *,
    lane: str,
    files: Sequence[str] = (),
    staged: bool = False,
    base: str = "",
    head: str = "",
) -> Evidence:
    """The files that were named; else the staged ones; else those that differ between two commits."""
    if not all(file.strip() for file in files):
        raise BadInput(
            "one of the files has no name", hint="An empty variable? Give --file a path."
        )
    if files:
        touched = [_from_the_top(world, file) for file in files]
    elif staged:
        touched = in_workspace(world, world.git.staged_paths())
    elif base or head:
        touched = in_workspace(
            world, world.git.paths_between(_commit(world, base), _commit(world, head))
        )
    else:
        raise BadInput(
            "there is nothing to judge: no file, no --staged and no commits were named",
            hint="For example: dos scope-gate --lane api --staged",
        )
    return scope.evidence_of_names(lane, touched, scope.tree_of(lane, lanes.roster(world, config)))


def _commit(world: World, name: str) -> str:
    found = world.git.commit_of(name or "HEAD")
    if found is None:
        raise GitFailed(
            f"{name or 'HEAD'!r} names no commit in {world.workspace.tree}",
            hint="`git log` shows them.",
        )
    return found


def _from_the_top(world: World, file: str) -> str:
    """An absolute path inside the workspace is a file of it; anything else is what somebody typed."""
    place, path = world.workspace, PurePath(file)
    if path.is_relative_to(place.tree):
        return in_workspace(world, [str(path.relative_to(place.tree))])[0]
    return scope.normal(
        str(path.relative_to(place.root)) if path.is_relative_to(place.root) else file
    )


def in_workspace(world: World, paths: Sequence[str]) -> list[str]:
    """Git's paths start at the top of the work tree; lanes start where dos.toml is."""
    workspace = world.workspace
    inside = workspace.root.is_relative_to(
        workspace.tree
    )  # else a linked worktree, which is laid out as the main one is
    return [
        replace_undecodable(
            os.path.relpath(workspace.tree / path, workspace.root) if inside else path
        )
        for path in paths
    ]
