"""The worktrees of lanes, what git knows of them, and the work that was saved from them."""

from pathlib import Path
from shlex import quote

from dos.evidence.health.finding import Finding, note, warning
from dos.evidence.health.git import command
from dos.records.names import slug
from dos.sources.world import World

SALVAGE = "refs/dos/salvage"


def examine(world: World) -> list[Finding]:
    if world.workspace.common is None:
        return []
    return [*_stale(world), *_orphans(world), *_salvaged(world)]


def registered(world: World) -> dict[Path, bool]:
    """The worktrees that git knows, with whether the place is gone and the entry can be removed."""
    known: dict[Path, bool] = {}
    here: Path | None = None
    for record in world.git.run("worktree", "list", "--porcelain", "-z").split("\0"):
        name, _, value = record.partition(" ")
        if name == "worktree":
            here = Path(value)
            known[here] = False
        elif name == "prunable" and here:
            known[here] = True
    return known


def stale(world: World) -> list[Path]:
    if world.workspace.common is None:
        return []
    return [path for path, prunable in registered(world).items() if prunable]


def _stale(world: World) -> list[Finding]:
    return [
        warning(
            "WORKTREE_STALE",
            f"git still lists a worktree at {path}, and nothing is there",
            "Its branch counts as checked out, so it cannot be checked out elsewhere.",
            "dos doctor --fix",
        )
        for path in stale(world)
    ]


def _orphans(world: World) -> list[Finding]:
    folder = world.workspace.state / "worktrees"
    known = {path.resolve() for path in registered(world)}
    lanes = {slug(lane) for lane in world.config.lanes.declared()}
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.resolve() not in known:
            what = f"{path} is no worktree that git knows"
            why = "The next worker of that lane takes its place; what is in it is in no commit."
            found.append(warning("WORKTREE_ORPHANED", what, why, command(world, f"worktree repair {quote(str(path))}")))
        elif path.name not in lanes:
            what = f"{path} belongs to a lane that is not declared any more"
            why = "Nobody will work there again. Git keeps it when something in it is not committed."
            found.append(
                note("WORKTREE_WITHOUT_LANE", what, why, command(world, f"worktree remove {quote(str(path))}"))
            )
    return found


def _salvaged(world: World) -> list[Finding]:
    count = len(world.git.run("for-each-ref", "--format=x", SALVAGE).split())
    if not count:
        return []
    refs = "1 ref holds" if count == 1 else f"{count} refs hold"
    return [
        note(
            "WORK_SALVAGED",
            f"{refs} work that was saved and did not land",
            "It stays there until somebody takes it or deletes it.",
            command(world, f"for-each-ref --sort=-creatordate {SALVAGE}"),
        )
    ]
