"""What the arbiter needs to know: the lanes of the workspace, and who holds what."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath

from msgspec import Struct, structs

from dos import plugins
from dos.config.schema import Config
from dos.errors import BadInput, GitFailed
from dos.journal.store import Admit, Store
from dos.lanes import admission, arbitrate, scope
from dos.lanes.admission import KERNEL_FILES, Predicate
from dos.lanes.arbitrate import LiveLease
from dos.lanes.roster import Roster
from dos.text import replace_undecodable
from dos.world import World


class ArbiterEvidence(Struct, frozen=True, kw_only=True):
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
    """The lanes, and the live leases of the journal, or of another world that the caller wrote down as JSON.

    `instead` replaces the journal's leases and `beside` adds to them; `budgets` go before the configured ones.
    """
    if instead is not None:
        live = arbitrate.live_leases_from_json(instead)
    else:
        live = [
            arbitrate.live_lease(lease) for lease in (journal or world.journal).leases(lapsed=False)
        ]
    live += [] if beside is None else arbitrate.live_leases_from_json(beside)
    lanes = roster(world, config)
    return ArbiterEvidence(
        roster=structs.replace(lanes, budgets={**lanes.budgets, **(budgets or {})}),
        live=tuple(live),
        predicates=predicates(),
    )


def roster(world: World, config: Config) -> Roster:
    lanes = config.lanes
    return Roster(
        concurrent=lanes.concurrent,
        exclusive=lanes.exclusive,
        autopick=lanes.autopick,
        trees=lanes.trees,
        aliases=lanes.aliases,
        protected=protected(world.workspace.root, config),
        budgets=config.class_budgets(),
        ratio_max=config.overlap.tolerance,
    )


def admission_rules(root: Path, config: Config) -> Admit:
    """What the journal asks in the transaction that grants: the same rules for a worker and for the command line."""
    return partial(
        admission.judge,
        budgets=config.class_budgets(),
        protected=protected(root, config),
        predicates=predicates(),
        config=config,
    )


def predicates() -> tuple[Predicate, ...]:
    """What other packages add. They can only refuse more."""
    return tuple(plugin for _, plugin in plugins.load(plugins.PREDICATES))


def protected(root: Path, config: Config) -> tuple[str, ...]:
    """What no lane may reach: the configured paths, and the referee's own files where it is what is worked on."""
    return (*config.protect.globs, *(file for file in KERNEL_FILES if (root / file).is_file()))


def scope_evidence(
    world: World,
    config: Config,
    *,
    lane: str,
    files: Sequence[str] = (),
    staged: bool = False,
    base: str = "",
    head: str = "",
) -> scope.Evidence:
    """The files that were named; else the staged ones; else those that differ between two commits."""
    if not all(file.strip() for file in files):
        raise BadInput(
            "one of the files has no name", hint="An empty variable? Give --file a path."
        )
    if files:
        touched = [_workspace_path(world, file) for file in files]
    elif staged:
        touched = workspace_paths(world, world.git.staged_paths())
    elif base or head:
        touched = workspace_paths(
            world, world.git.paths_between(_commit(world, base), _commit(world, head))
        )
    else:
        raise BadInput(
            "there is nothing to judge: no file, no --staged and no commits were named",
            hint="For example: dos scope-gate --lane api --staged",
        )
    return scope.evidence_from_paths(lane, touched, scope.lane_tree(lane, roster(world, config)))


def _commit(world: World, name: str) -> str:
    found = world.git.commit_of(name or "HEAD")
    if found is None:
        raise GitFailed(
            f"{name or 'HEAD'!r} names no commit in {world.workspace.tree}",
            hint="`git log` shows them.",
        )
    return found


def _workspace_path(world: World, file: str) -> str:
    """An absolute path inside the workspace is a file of it; anything else is what somebody typed."""
    place, path = world.workspace, PurePath(file)
    if path.is_relative_to(place.tree):
        return workspace_paths(world, [str(path.relative_to(place.tree))])[0]
    return scope.normalize_path(
        str(path.relative_to(place.root)) if path.is_relative_to(place.root) else file
    )


def workspace_paths(world: World, paths: Sequence[str]) -> list[str]:
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
