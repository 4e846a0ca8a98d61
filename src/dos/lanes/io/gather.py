"""Gather what lanes are judged by: the declared lanes, the live leases, the touched files."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath

from msgspec import Struct, structs

from dos import plugins
from dos.config.schema import Config
from dos.errors import BadInput, GitFailed
from dos.journal.store import Admit, Store
from dos.lanes import admission, scope
from dos.lanes.admission import KERNEL_FILES, Predicate
from dos.lanes.io.parts import config_for
from dos.lanes.leases import LiveLease, live_lease, live_leases_from_json
from dos.lanes.parts import LanesWithParts
from dos.lanes.roster import Roster
from dos.text import replace_undecodable
from dos.world import World


class ArbiterEvidence(Struct, frozen=True, kw_only=True):
    """What the arbiter decides by, besides the request."""

    roster: Roster
    live: tuple[LiveLease, ...]
    predicates: tuple[Predicate, ...]


def arbiter_evidence(
    world: World,
    config: Config,
    *,
    journal: Store | None = None,
    instead: str | None = None,
    beside: str | None = None,
    budgets: Mapping[str, int] | None = None,
) -> ArbiterEvidence:
    """The declared lanes, the live leases and the predicates.

    `instead` is JSON in place of the journal's leases, `beside` is JSON of further ones; `budgets`
    override the configured ones. Raises BadInput if the JSON cannot be read.
    """
    if instead is not None:
        live = live_leases_from_json(instead)
    else:
        live = [live_lease(lease) for lease in (journal or world.journal).leases(lapsed=False)]
    if beside is not None:
        live += live_leases_from_json(beside)
    lanes = roster(world, config)
    return ArbiterEvidence(
        roster=structs.replace(lanes, budgets={**lanes.budgets, **(budgets or {})}),
        live=tuple(live),
        predicates=predicates(),
    )


def roster(world: World, config: Config) -> Roster:
    """The lanes that the configuration declares."""
    lanes = config.lanes
    return Roster(
        concurrent=lanes.concurrent,
        exclusive=lanes.exclusive,
        autopick=lanes.autopick,
        trees=lanes.trees,
        aliases=lanes.aliases,
        protected=protected(world.workspace.root, config),
        budgets=config.class_budgets(),
        parts=lanes.parts if isinstance(lanes, LanesWithParts) else {},
        most_parts=config.supervise.max_concurrency,
        ratio_max=config.overlap.tolerance,
    )


def admission_rules(root: Path, config: Config) -> Admit:
    """The rules that the journal asks in the transaction that grants a lease, for every caller."""
    return partial(
        admission.judge,
        budgets=config.class_budgets(),
        protected=protected(root, config),
        most_parts=config.supervise.max_concurrency,
        predicates=predicates(),
        config=config,
    )


def predicates() -> tuple[Predicate, ...]:
    """The predicates of installed plugins. They can only refuse more."""
    return tuple(plugin for _, plugin in plugins.load(plugins.PREDICATES))


def protected(root: Path, config: Config) -> tuple[str, ...]:
    """What no lane may contain: the configured paths, and the files of dos-kernel if present."""
    kernel = [file for file in KERNEL_FILES if (root / file).is_file()]
    return (*config.protect.globs, *kernel)


def scope_evidence(
    world: World,
    *,
    lane: str,
    files: Sequence[str] = (),
    staged: bool = False,
    commits: tuple[str, str] = ("", ""),
) -> scope.Evidence:
    """The touched files: those that are named, else the staged ones, else a diff of two commits.

    Of two `commits` an empty name is HEAD; two of them mean that none are named. Raises BadInput
    if nothing is named, GitFailed if a commit does not exist.
    """
    if not all(file.strip() for file in files):
        raise BadInput(
            "one of the files has no name",
            hint="Give --file a path; a shell variable may be empty.",
        )
    if files:
        touched = [_workspace_path(world, file) for file in files]
    elif staged:
        touched = workspace_paths(world, world.git.staged_paths())
    elif any(commits):
        base, head = commits
        between = world.git.paths_between(_commit(world, base), _commit(world, head))
        touched = workspace_paths(world, between)
    else:
        raise BadInput(
            "nothing to judge: give --file, --staged, or --base and --head",
            hint="For example: dos scope-gate --lane api --staged",
        )
    lanes = roster(world, config_for(world, lane))
    return scope.evidence_from_paths(lane, touched, scope.lane_tree(lane, lanes))


def _commit(world: World, name: str) -> str:
    """The hash of a commit. Raises GitFailed if the name is no commit."""
    commit = world.git.commit_of(name or "HEAD")
    if commit is None:
        raise GitFailed(
            f"{name or 'HEAD'!r} names no commit in {world.workspace.tree}",
            hint="`git log` lists commits.",
        )
    return commit


def _workspace_path(world: World, file: str) -> str:
    """A typed path from the workspace's root; an absolute one only if it is inside."""
    workspace = world.workspace
    path = PurePath(file)
    if path.is_relative_to(workspace.tree):
        return workspace_paths(world, [str(path.relative_to(workspace.tree))])[0]
    if path.is_relative_to(workspace.root):
        file = str(path.relative_to(workspace.root))
    return scope.normalize_path(file)


def workspace_paths(world: World, paths: Sequence[str]) -> list[str]:
    """Git's paths, which start at the top of the work tree, from where dos.toml is."""
    workspace = world.workspace
    if workspace.root.is_relative_to(workspace.tree):
        relative = [os.path.relpath(workspace.tree / path, workspace.root) for path in paths]
    else:
        relative = list(paths)  # a linked worktree, which is laid out as the main one is
    return [replace_undecodable(path) for path in relative]
