"""The worktrees of lanes, what git knows of them, and the work that was saved from them."""

from pathlib import Path
from shlex import quote

from dos.doctor.subjects.finding import Finding, git_command, note, warning
from dos.doctor.subjects.git import SALVAGE, WORKTREES, is_usable, repository
from dos.git.repository import Reader
from dos.text import slug
from dos.world import World


def examine(world: World) -> list[Finding]:
    if not is_usable(world):
        return []
    seen = repository(world)
    known = _registered(seen.worktrees)
    return [*_stale(known), *_leftover_folders(world, known), *_salvaged_work(world, seen.salvaged)]


def stale_worktrees(world: World) -> list[Path]:
    """Asked anew: whoever puts it right looks again afterwards."""
    return (
        _prunable(_registered(world.git.run("worktree list", *WORKTREES)))
        if world.workspace.common
        else []
    )


def _registered(listed: str) -> dict[Path, set[str]]:
    """The worktrees that git knows, with what it says of each: `prunable` when nothing is there any more."""
    known: dict[Path, set[str]] = {}
    said: set[str] = set()
    for record in listed.split("\0"):
        name, _, value = record.partition(" ")
        if name == "worktree":
            known[Path(value)] = said = set()
        said.add(name)
    return known


def _prunable(known: dict[Path, set[str]]) -> list[Path]:
    return [path for path, said in known.items() if "prunable" in said]


def _stale(known: dict[Path, set[str]]) -> list[Finding]:
    return [
        warning(
            "WORKTREE_STALE",
            f"git still lists a worktree at {path}, and nothing is there",
            "Its branch counts as checked out, so it cannot be checked out elsewhere.",
            "dos doctor --fix",
        )
        for path in _prunable(known)
    ]


def _leftover_folders(world: World, known: dict[Path, set[str]]) -> list[Finding]:
    """Places of lanes in which no worker will go on."""
    folder = world.workspace.worktrees
    places = {path.resolve(): said for path, said in known.items()}
    lanes = {slug(lane) for lane in world.config.lanes.declared()}
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.resolve() not in places:
            what = f"{path} is no worktree that git knows"
            why = "The next worker of that lane takes its place; what is in it is in no commit."
            found.append(warning("WORKTREE_ORPHANED", what, why, _reattach_command(world, path)))
        elif path.name not in lanes and "prunable" not in places[path.resolve()]:
            what = f"{path} belongs to a lane that is not declared any more"
            why = "Nobody will work there again."
            fix = _remove_command(world, path, locked="locked" in places[path.resolve()])
            found.append(note("WORKTREE_WITHOUT_LANE", what, why, fix))
    return found


def _reattach_command(world: World, path: Path) -> str:
    """Git takes a worktree back whose entry is still there; anything else is kept, as it is, beside the worktrees."""
    marker = path / ".git"
    entry = (
        Path(marker.read_text(encoding="utf-8", errors="replace")[8:].strip())
        if marker.is_file()
        else path
    )
    if entry.parent == (world.workspace.common or path) / "worktrees" and entry.is_dir():
        return git_command(world, f"worktree repair {quote(str(path))}")
    if path.is_dir() and not any(path.iterdir()):
        return f"rmdir {quote(str(path))}"
    kept = world.workspace.state / "salvage"
    free = next(
        place for number in range(1, 1000) if not (place := kept / f"{number}-{path.name}").exists()
    )
    return f"mkdir -p {quote(str(kept))} && mv {quote(str(path))} {quote(str(free))}"


def _remove_command(world: World, path: Path, *, locked: bool) -> str:
    """Removes it after what is in no commit, and what no branch holds, is kept."""
    inside = Reader(path)
    head = inside.run("rev-parse", "HEAD").strip()
    steps = []
    if not inside.run("for-each-ref", "--count=1", "--contains", head):
        count = len(inside.run("for-each-ref", "--format=x", f"{SALVAGE}/{path.name}/").split())
        steps.append(
            git_command(world, f"update-ref {quote(f'{SALVAGE}/{path.name}/{count + 1}')} {head}")
        )
    if inside.dirty_paths():
        steps.append(f"git -C {quote(str(path))} stash push --quiet --include-untracked")
    if locked:
        steps.append(git_command(world, f"worktree unlock {quote(str(path))}"))
    return " && ".join([*steps, git_command(world, f"worktree remove {quote(str(path))}")])


def _salvaged_work(world: World, count: int) -> list[Finding]:
    if not count:
        return []
    refs = "1 ref holds" if count == 1 else f"{count} refs hold"
    return [
        note(
            "WORK_SALVAGED",
            f"{refs} work that was saved and did not land",
            "It stays there until somebody takes it or deletes it.",
            git_command(world, f"for-each-ref --sort=-creatordate {SALVAGE}"),
        )
    ]
