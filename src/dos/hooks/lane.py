"""The lane of the agent that runs git, as its variables and the journal describe it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from dos import regions, workspace
from dos.errors import DosError, StoreFailed
from dos.git.fence import newest_fence
from dos.git.repository import Reader, Writer
from dos.journal.backends.open import embedded_path
from dos.lanes.io.parts import config_for
from dos.lease import KEY_VARIABLE, REGION_VARIABLE, TREE_VARIABLE, Lease, key_hash
from dos.regions import Region
from dos.text import quote
from dos.workspace import Workspace
from dos.world import World


class HookRefusal(Struct, frozen=True):
    """Why git must not do what an agent asked for, and what the agent should do instead."""

    reason: str
    advice: str

    def __str__(self) -> str:
        """The refusal as the agent sees it in git's output."""
        return f"dos: refused: {self.reason}\ndos: {self.advice}"


class Lane(Struct, frozen=True, kw_only=True):
    """The lane of the agent that runs git: what it may change, and where it works."""

    name: str
    region: Region
    prefix: str  # the path from the top of the work tree to dos.toml
    tree: Writer  # where the lane works
    directory: Path  # git's files there
    repository: Writer  # the user's, whose refs are guarded
    common: Path  # git's files of that
    branch: str = ""  # the branch to commit on, where all lanes share one tree


def find_lane(environment: Mapping[str, str]) -> Lane | HookRefusal | None:
    """The lane of the agent; None when it works on another repository than this one."""
    name = environment.get("DOS_LANE", "")
    fence = environment.get("DOS_FENCE", "")
    root = environment.get("DOS_WORKSPACE", "")
    if not name or not root or not fence.isdecimal():
        values = f"DOS_WORKSPACE={quote(root)} DOS_LANE={quote(name)} DOS_FENCE={quote(fence)}"
        return HookRefusal(
            f"these variables do not name a lane and its lease: {values}",
            "Do not change the DOS_ variables that you were started with.",
        )
    found = workspace.find(Path(root))
    tree = Path(environment.get(TREE_VARIABLE, ""))
    repositories = (found.common, Path(os.path.realpath(tree / ".git")))
    if found.common is None or _common_directory(git_directory(environment)) not in repositories:
        return None
    if _is_closed(found.common):
        return _lane_behind_walls(name, tree, environment)
    lost = _lease_lost(found, name, int(fence))
    if lost:
        return lost
    with World(found.root, lenient=True) as world:
        region = _lane_region(world, name, int(fence), environment.get(KEY_VARIABLE, ""))
        if isinstance(region, HookRefusal):
            return region
        is_shared = world.config.workers.isolation == "shared"
    if is_shared:
        shared = Writer(found.tree)
        return Lane(
            name=name,
            region=region,
            prefix=found.prefix,
            tree=shared,
            directory=found.common,
            repository=shared,
            common=found.common,
            branch=shared.branch() or "",
        )
    if not tree.is_absolute():
        return _wrong_variable(TREE_VARIABLE, str(tree), name)
    return Lane(
        name=name,
        region=region,
        prefix=found.prefix,
        tree=Writer(tree),
        directory=Path(os.path.realpath(tree / ".git")),
        repository=Writer(found.tree),
        common=found.common,
    )


def _is_closed(common: Path) -> bool:
    """Whether walls keep this process from reading the user's repository."""
    try:
        with (common / "HEAD").open("rb"):
            return False
    except PermissionError:
        return True


def _lane_behind_walls(name: str, tree: Path, environment: Mapping[str, str]) -> Lane | HookRefusal:
    """The lane as its worker described it, for an agent that can only read its own repository.

    Neither the key nor the fence can be compared here. They are compared before work lands.
    """
    try:
        region = regions.region(json.loads(environment.get(REGION_VARIABLE, "")))
    except (DosError, TypeError, ValueError):
        return _wrong_variable(REGION_VARIABLE, environment.get(REGION_VARIABLE, ""), name)
    if not tree.is_absolute():
        return _wrong_variable(TREE_VARIABLE, str(tree), name)
    own = Writer(tree)
    directory = Path(os.path.realpath(tree / ".git"))
    return Lane(
        name=name,
        region=region,
        prefix="",
        tree=own,
        directory=directory,
        repository=own,
        common=directory,
    )


def _wrong_variable(variable: str, value: str, lane: str) -> HookRefusal:
    """The refusal of an agent whose variables do not describe its lane."""
    return HookRefusal(
        f"{variable}={quote(value)} does not say where lane {lane!r} works",
        "Do not change the DOS_ variables that you were started with.",
    )


def _lease_lost(found: Workspace, lane: str, fence: int) -> HookRefusal | None:
    """The refusal of an agent whose fence is not the newest of its lane in git."""
    newest = newest_fence(Reader(found.tree), lane)
    if newest == fence:
        return None
    return _not_holder(lane, fence, f"its newest holder is {newest or 'not known to git'}")


def _not_holder(lane: str, fence: int, why: str) -> HookRefusal:
    """The refusal of an agent that no longer holds its lane."""
    return HookRefusal(
        f"lane {lane!r} is not yours any more: you were started as its holder {fence}, and {why}",
        "Stop. Your commits are kept; another worker continues the unit.",
    )


def _lane_region(world: World, lane: str, fence: int, key: str) -> Region | HookRefusal:
    """The region of the lease; where the journal is not a local file, that in dos.toml or a plan.

    The holder of a lease is who has its key: anybody can read and set a fence.
    """
    leases = _leases(world)
    if leases is not None:
        for lease in leases:
            if lease.fence == fence and lease.lane == lane:
                if lease.key_hash and key_hash(key) != lease.key_hash:
                    return _not_holder(lane, fence, f"{KEY_VARIABLE} is not its key")
                return lease.region
        return _not_holder(lane, fence, "the journal holds no such lease")
    problems = world.loaded_config.problems
    if problems:
        return HookRefusal(
            f"the region of lane {lane!r} cannot be read: {problems[0]}",
            "Stop and report this; a person has to fix dos.toml.",
        )
    config = config_for(world, lane)
    name = config.canonical_lane(lane)
    if name:
        region = config.lane_region(name)
        if region:
            return region
    return HookRefusal(
        f"there is no lane {lane!r} in {world.workspace.config}", "Stop and report this."
    )


def git_directory(environment: Mapping[str, str]) -> Path:
    """Git's files of the work tree that the hook runs in."""
    return Path(os.path.realpath(environment.get("GIT_DIR") or ".git"))


def _common_directory(directory: Path) -> Path:
    """Git's files of the repository that a work tree belongs to."""
    pointer = directory / "commondir"
    try:
        shared = pointer.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except FileNotFoundError:
        return directory
    return Path(os.path.realpath(directory / shared))


def _leases(world: World) -> list[Lease] | None:
    """The leases; None when the journal is not a local file, or cannot be read now."""
    path = embedded_path(world.config.store.url, world.workspace.state)
    if path is None or not path.exists():
        return None
    try:
        return world.journal.leases()
    except StoreFailed:
        return None
