"""The folders of lanes: what is left on disk, and the work saved from them.

A lane's repository is its agent's, so it is not opened here. No fix loses work: what is left is
moved to the saved work, and worktrees of earlier versions are saved to refs and a stash.
"""

from pathlib import Path
from shlex import quote

from dos.doctor.subjects.finding import Finding, git_command, note, warning
from dos.doctor.subjects.git import WORKTREES, is_usable, repository
from dos.errors import BadInput
from dos.fleet.state.fleet import FleetState
from dos.git.repository import SALVAGE_REFS, Reader
from dos.journal import fold
from dos.landing.lane.retired import retired_lanes
from dos.lanes.io.parts import config_with_parts
from dos.text import plural, slug
from dos.world import World

# The worktrees that git lists, each with the attributes that git reports of it.
Registered = dict[Path, set[str]]


def examine(world: World) -> list[Finding]:
    """Return stale entries of git, leftover folders, and saved work that did not land."""
    if not is_usable(world):
        return []
    facts = repository(world)
    registered = _parse_worktrees(facts.worktrees)
    return [
        *_stale(registered),
        *_leftover_folders(world, registered),
        *_removed_lanes(world),
        *_salvaged_work(facts.salvaged),
    ]


def stale_worktrees(world: World) -> list[Path]:
    """Return the worktrees that git lists and that do not exist.

    Git is asked anew each time, because a repair changes the answer.
    """
    if world.workspace.common is None:
        return []
    return _prunable(_parse_worktrees(world.git.run("worktree list", *WORKTREES)))


def _parse_worktrees(listing: str) -> Registered:
    """Parse `git worktree list --porcelain -z`. A missing worktree has `prunable`."""
    registered: Registered = {}
    attributes: set[str] = set()
    for record in listing.split("\0"):
        name, _, value = record.partition(" ")
        if name == "worktree":
            attributes = set()
            registered[Path(value)] = attributes
        attributes.add(name)
    return registered


def _prunable(registered: Registered) -> list[Path]:
    """The paths of the worktrees that git lists and that do not exist."""
    return [path for path, attributes in registered.items() if "prunable" in attributes]


def _stale(registered: Registered) -> list[Finding]:
    """A warning for each missing worktree that git lists."""
    return [
        warning(
            "WORKTREE_STALE",
            f"git lists a worktree at {path}, which does not exist",
            "Its branch counts as checked out, so it cannot be checked out elsewhere.",
            "dos doctor --fix",
        )
        for path in _prunable(registered)
    ]


def _leftover_folders(world: World, registered: Registered) -> list[Finding]:
    """The folders among those of lanes that hold no repository, or that have no lane.

    A worktree that does not exist is left out: `_stale` reports it.
    """
    folder = world.workspace.worktrees
    if not folder.is_dir():
        return []
    known = {path.resolve(): attributes for path, attributes in registered.items()}
    lanes = {slug(lane) for lane in world.config.lanes.declared()}
    findings = []
    for path in sorted(folder.iterdir()):
        attributes = known.get(path.resolve())
        has_repository = (path / ".git").is_dir() and not (path / ".git").is_symlink()
        if attributes is None and not has_repository:
            what = f"{path} is among the folders of lanes, but it is no repository"
            why = "The next worker of that lane moves it to the saved work (`dos salvage list`)."
            fix = _reattach_command(world, path)
            findings.append(warning("WORKTREE_ORPHANED", what, why, fix))
        elif attributes is not None and path.name not in lanes and "prunable" not in attributes:
            what = f"{path} belongs to a lane that is no longer declared"
            fix = _remove_command(world, path, locked="locked" in attributes)
            findings.append(note("WORKTREE_WITHOUT_LANE", what, "No worker will use it.", fix))
    return findings


def removed_lanes(world: World) -> list[str]:
    """Return the lanes that are no longer declared, that have left something, and that nobody has.

    So are the parts of repeatable lanes whose units have landed, or are in no plan. They are named
    as their folders are. Git is asked anew each time: a repair changes the answer.
    """
    if world.workspace.common is None or world.loaded_config.problems:
        return []
    try:
        in_use = _lanes_in_use(world)
    except BadInput:  # which parts a repeatable lane has is not known
        return []
    names = retired_lanes(world.workspace, world.git, in_use)
    if not names:
        return []
    held = {slug(lease.lane) for lease in world.journal.leases()}
    return [name for name in names if name not in held]


def _lanes_in_use(world: World) -> list[str]:
    """The declared lanes, and the parts of repeatable ones whose units have not landed."""
    if not world.config.lanes.repeatable:
        return world.config.lanes.declared()
    fleet, _ = fold.current(world.journal, FleetState)
    landed = {name for name, unit in fleet.units.items() if unit.landed}
    lanes = config_with_parts(world, landed).lanes
    return list({*world.config.lanes.declared(), *lanes.roster()})


def _removed_lanes(world: World) -> list[Finding]:
    """A note for each lane that was renamed or removed."""
    why = "Its folder, its home and its caches take space, and its refs keep old commits."
    return [
        note(
            "RETIRED_LANE",
            f"lane {name} gets no worker any more, and not all of it was removed",
            f"{why} Work in it that nobody has saved is moved to the saved work.",
            "dos doctor --fix",
        )
        for name in removed_lanes(world)
    ]


def _reattach_command(world: World, path: Path) -> str:
    """A command that registers the worktree again, or that moves the folder away unchanged."""
    marker = path / ".git"
    entry = path
    if marker.is_file():
        text = marker.read_text(encoding="utf-8", errors="replace")
        entry = Path(text.removeprefix("gitdir:").strip())
    if entry.parent == (world.workspace.common or path) / "worktrees" and entry.is_dir():
        return git_command(world, f"worktree repair {quote(str(path))}")
    if path.is_dir() and not any(path.iterdir()):
        return f"rmdir {quote(str(path))}"
    return _move_command(world, path)


def _move_command(world: World, path: Path) -> str:
    """A command that moves the folder to the saved work, unchanged."""
    kept = world.workspace.state / "salvage"
    number = 1
    while (kept / f"{number}-{path.name}").exists():
        number += 1
    free = kept / f"{number}-{path.name}"
    return f"mkdir -p {quote(str(kept))} && mv {quote(str(path))} {quote(str(free))}"


def _remove_command(world: World, path: Path, *, locked: bool) -> str:
    """A command that removes the worktree after saving its commits and uncommitted changes."""
    inside = Reader(path)
    head = inside.run("rev-parse", "HEAD").strip()
    steps = []
    if not inside.run("for-each-ref", "--count=1", "--contains", head):
        count = len(inside.run("for-each-ref", "--format=x", f"{SALVAGE_REFS}{path.name}/").split())
        ref = f"{SALVAGE_REFS}{path.name}/{count + 1}"
        steps.append(git_command(world, f"update-ref {quote(ref)} {head}"))
    if inside.dirty_paths():
        steps.append(f"git -C {quote(str(path))} stash push --quiet --include-untracked")
    if locked:
        steps.append(git_command(world, f"worktree unlock {quote(str(path))}"))
    steps.append(git_command(world, f"worktree remove {quote(str(path))}"))
    return " && ".join(steps)


def _salvaged_work(count: int) -> list[Finding]:
    """A note when refs hold saved work that did not land."""
    if not count:
        return []
    return [
        note(
            "WORK_SALVAGED",
            f"{plural(count, 'piece')} of saved work did not land",
            "It is kept until you apply it with `dos salvage apply`"
            " or delete it with `dos salvage drop`.",
            "dos salvage list",
        )
    ]
