"""May this agent move this ref to this commit? Asked by git's hooks, from git's own files and the journal.

An agent that switches hooks off is not stopped here: what it did is measured again before it lands.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from dos import regions, workspace
from dos.errors import DosError, StoreFailed
from dos.git.fence import newest_fence
from dos.git.repository import Reader, Writer
from dos.journal.backends.open import embedded_path
from dos.lease import Lease
from dos.regions import Region
from dos.text import printable_path, quote, replace_undecodable, slug
from dos.workspace import Workspace
from dos.world import World

_MOST_SHOWN = 3
# As `landing` and `worktrees` have them, which take longer to load than all the rest of this.
_READY = "dos-ready"
_EXISTING_REFS = (
    "HEAD",
    "--branches",
    "--remotes",
    "--tags",
)  # what is reachable from these was there before


class HookRefusal(Struct, frozen=True):
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"dos: refused: {self.reason}\ndos: {self.advice}"


class Lane(Struct, frozen=True, kw_only=True):
    """What an agent may touch, and where."""

    name: str
    region: Region
    prefix: str  # where dos.toml is below the top of the work tree, as git's paths begin
    tree: Writer  # where it works
    directory: Path  # git's own files of that work tree
    branch: str = ""  # that it commits on, where all lanes share one tree


class Update(Struct, frozen=True):
    """One line of what git tells the hook."""

    old: str
    new: str
    ref: str

    @property
    def deletes(self) -> bool:
        return not self.new.strip("0")


def check(hook: str, hook_input: str, environment: Mapping[str, str]) -> HookRefusal | None:
    """Whatever cannot be read is refused: an agent may not go on where nobody can say whether it should."""
    try:
        found = _find_lane(environment)
        if not isinstance(found, Lane):
            return found
        own = found.directory == _git_directory(environment)
        if hook == "pre-commit":
            return _check_staged(found, environment) if own else _wrong_worktree(found)
        return _check_updates(
            found, [Update(*line.split(" ", 2)) for line in hook_input.splitlines()], own
        )
    except (DosError, OSError, ValueError) as error:
        return HookRefusal(
            f"it could not be checked: {error}", "Stop here and say so; a person has to look at it."
        )


def _find_lane(marks: Mapping[str, str]) -> Lane | HookRefusal | None:
    """None: the agent's work is in another repository than this one."""
    name, fence, root = (marks.get(key, "") for key in ("DOS_LANE", "DOS_FENCE", "DOS_WORKSPACE"))
    if not name or not root or not fence.isdecimal():
        found = f"DOS_WORKSPACE={quote(root)} DOS_LANE={quote(name)} DOS_FENCE={quote(fence)}"
        return HookRefusal(
            f"these do not say whose work it is: {found}",
            "Leave them as they were when you were started.",
        )
    place = workspace.find(Path(root))
    if place.common != _common_directory(_git_directory(marks)):
        return None
    if lost := _lease_lost(place, name, int(fence)):
        return lost
    with World(place.root, lenient=True) as world:
        held = _lane_region(world, name, int(fence))
        if isinstance(held, HookRefusal):
            return held
        shared = world.config.workers.isolation == "shared"
    works = (
        (place.tree, place.common)
        if shared
        else _worktree(place.common, name, _git_directory(marks))
    )
    if works is None:
        return HookRefusal(
            f"lane {name!r} has no work tree in {place.common}", "Stop here and say so."
        )
    tree = Writer(works[0])
    return Lane(
        name=name,
        region=held,
        prefix=place.prefix,
        tree=tree,
        directory=works[1],
        branch=(tree.branch() or "") if shared else "",
    )


def _worktree(common: Path, lane: str, here: Path) -> tuple[Path, Path] | None:
    """A lane's work tree and git's own files of it, as git knows them: an agent may have another home than its worker.

    One that a worker made ready, and that has the lane's name. Where there are several, it may be any of them.
    """
    found = None
    for pointer in (common / "worktrees").glob("*/gitdir"):
        place = pointer.parent / pointer.read_text(
            encoding="utf-8", errors="surrogateescape"
        ).rstrip("\n")
        directory = Path(os.path.realpath(pointer.parent))
        if place.parent.name == slug(lane) and (directory / _READY).exists():
            found = place.parent, directory
            if directory == here:
                break
    return found


def _lease_lost(workspace: Workspace, lane: str, fence: int) -> HookRefusal | None:
    newest = newest_fence(Reader(workspace.tree), lane)
    if newest == fence:
        return None
    return _not_holder(lane, fence, f"its newest holder is {newest or 'not known to git'}")


def _not_holder(lane: str, fence: int, why: str) -> HookRefusal:
    return HookRefusal(
        f"lane {lane!r} is not yours any more: you were started as its holder {fence}, and {why}",
        "Stop here. What you have committed is kept; another worker goes on with the unit.",
    )


def _lane_region(world: World, lane: str, fence: int) -> Region | HookRefusal:
    """Of the lease, where the journal is a file beside us; of dos.toml, where it is not."""
    held = _leases(world)
    if held is not None:
        mine = next((lease for lease in held if lease.fence == fence and lease.lane == lane), None)
        return mine.region if mine else _not_holder(lane, fence, "the journal holds no such lease")
    if problems := world.loaded_config.problems:
        return HookRefusal(
            f"what lane {lane!r} may change cannot be read: {problems[0]}",
            "Stop here and say so; a person has to look at dos.toml.",
        )
    name = world.config.canonical_lane(lane)
    found = world.config.lane_region(name) if name else None
    return found or HookRefusal(
        f"there is no lane {lane!r} in {world.workspace.config}", "Stop here and say so."
    )


def _check_staged(lane: Lane, marks: Mapping[str, str]) -> HookRefusal | None:
    """What a merge brings from elsewhere is as one of its parents has it."""
    heads = lane.directory / "MERGE_HEAD"
    parents = ["HEAD", *(heads.read_text().split() if heads.exists() else [])]
    if lane.tree.commit_of("HEAD") is None:
        parents = [lane.tree.run("hash-object", "-t", "tree", "--stdin", feed="").strip()]
    words = (
        "diff-index",
        "--cached",
        "-z",
        "--no-renames",
        "--name-only",
        "--ignore-submodules=none",
    )
    index = marks.get("GIT_INDEX_FILE", "")
    index = str(Path.cwd() / index) if index else ""
    staged = [set(_paths(lane.tree.run(*words, parent, index=index))) for parent in parents]
    return _check_paths(lane, set.intersection(*staged))


def _check_updates(lane: Lane, updates: Sequence[Update], own: bool) -> HookRefusal | None:
    branch = f"refs/heads/{lane.branch}" if lane.branch and own else ""
    stays = not branch or any(update.ref == branch for update in updates)
    for update in updates:
        refused = None
        if update.ref == "HEAD":
            refused = (
                _check_commits(lane, update.new, _EXISTING_REFS)
                if own and stays
                else _wrong_worktree(lane)
            )
        elif update.ref == branch and not update.deletes:
            # Also what it takes off the branch: beside its own commits there are those of other lanes.
            refused = _check_commits(lane, update.new, _EXISTING_REFS) or _check_commits(
                lane, branch, (update.new,)
            )
        elif update.ref.endswith("/HEAD") and "worktree" in update.ref.partition("/")[0]:
            refused = _wrong_worktree(lane)
        elif update.ref.startswith("refs/tags/"):
            refused = _check_tag(lane, update)
        elif update.ref.startswith(("refs/heads/", "refs/dos/", "refs/notes/dos")):
            refused = None if _only_packs(lane, update) else _forbidden_ref(lane, update.ref)
        if refused:
            return refused
    return None


def _check_commits(lane: Lane, new: str, known: Sequence[str]) -> HookRefusal | None:
    """Every commit that is not reachable from what is known changes only what belongs to the lane."""
    if new.startswith(
        "ref:"
    ):  # it goes to a branch; a commit there would move the branch, and that is refused
        return None
    commits = lane.tree.run("rev-list", new, "--not", *known)
    if not commits:
        return None
    words = (
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "-c",
        "--root",
        "--no-commit-id",
        "--no-renames",
        "--name-only",
    )
    changed = _paths(lane.tree.run(*words, "--ignore-submodules=none", feed=commits))
    return _check_paths(lane, set(changed))


def _check_tag(lane: Lane, update: Update) -> HookRefusal | None:
    if _only_packs(lane, update):
        return None
    if update.deletes or lane.tree.object_of(update.ref):
        return _forbidden_ref(lane, update.ref)
    commit = lane.tree.commit_of(update.new)
    return _check_commits(lane, commit, _EXISTING_REFS) if commit else None


def _only_packs(lane: Lane, update: Update) -> bool:
    """`git gc` moves a ref from a file of its own to one for all: it is written there, then its own file is deleted."""
    if not update.deletes:
        return lane.tree.object_of(update.ref) == update.new
    packed = _common_directory(lane.directory) / "packed-refs"
    if (
        not packed.exists() or packed.with_name("packed-refs.lock").exists()
    ):  # whoever deletes it there locks it first
        return False
    return (
        f"{update.old} {update.ref}"
        in packed.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    )


def _check_paths(lane: Lane, paths: set[str]) -> HookRefusal | None:
    found = sorted(path for path in paths if not regions.lane_holds(lane.region, path, lane.prefix))
    if not found:
        return None
    some = ", ".join(printable_path(replace_undecodable(path)) for path in found[:_MOST_SHOWN])
    more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    verb = "lies" if len(found) == 1 else "lie"
    return HookRefusal(
        f"{some}{more} {verb} outside of lane {lane.name!r}, which is {', '.join(lane.region.globs) or 'nothing'}",
        "Commit without it (git restore --staged -- PATH). What is another lane's is left to it: say what it needs.",
    )


def _wrong_worktree(lane: Lane) -> HookRefusal:
    return HookRefusal(
        f"this is not where lane {lane.name!r} works",
        f"{_where_to_commit(lane)} What is good is landed from there.",
    )


def _forbidden_ref(lane: Lane, ref: str) -> HookRefusal:
    return HookRefusal(
        f"{printable_path(replace_undecodable(ref))} is not for an agent to make, move or delete",
        f"{_where_to_commit(lane)} What is good is landed from there.",
    )


def _where_to_commit(lane: Lane) -> str:
    if lane.branch:
        return f"Commit in {lane.tree.tree}, on {lane.branch!r}, and only there."
    return f"Commit in {lane.tree.tree}, on no branch (git switch --detach), and only there."


def _git_directory(marks: Mapping[str, str]) -> Path:
    return Path(os.path.realpath(marks.get("GIT_DIR") or ".git"))


def _common_directory(directory: Path) -> Path:
    try:
        shared = (
            (directory / "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip()
        )
    except FileNotFoundError:
        return directory
    return Path(os.path.realpath(directory / shared))


def _leases(world: World) -> list[Lease] | None:
    """None: the journal is not a file beside us, or it cannot be read now."""
    path = embedded_path(world.config.store.url, world.workspace.state)
    if path is None or not path.exists():
        return None
    try:
        return world.journal.leases()
    except StoreFailed:
        return None


def _paths(text: str) -> list[str]:
    return [path for path in text.split("\0") if path]
