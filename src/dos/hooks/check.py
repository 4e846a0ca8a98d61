"""Decide whether an agent may commit or move a ref. Git's hooks call this.

The answer comes from git's own files and the journal. An agent that disables the hooks is not
stopped here: its work is measured again before it lands.
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
# The same as in `landing.worktree`, which takes longer to load than all the rest of this module.
_READY = "dos-ready"
_EXISTING_REFS = ("HEAD", "--branches", "--remotes", "--tags")  # commits in these are not new
_DIFF_INDEX = (
    *("diff-index", "--cached", "-z", "--no-renames", "--name-only"),
    "--ignore-submodules=none",
)
_DIFF_TREE = (
    *("diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--no-commit-id", "--no-renames"),
    *("--name-only", "--ignore-submodules=none"),
)


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
    tree: Writer  # the lane's work tree
    directory: Path  # git's files of that work tree
    branch: str = ""  # the branch to commit on, where all lanes share one tree


class Update(Struct, frozen=True):
    """One ref update, as git passes it to the hook."""

    old: str
    new: str
    ref: str

    @property
    def deletes(self) -> bool:
        """Whether the ref is deleted: its new value is all zeros."""
        return not self.new.strip("0")


def check(hook: str, hook_input: str, environment: Mapping[str, str]) -> HookRefusal | None:
    """Decide whether an agent may commit or move refs; None: it may.

    What cannot be checked is refused: an agent must not continue on a lane that it may have lost.
    """
    try:
        lane = _find_lane(environment)
        if not isinstance(lane, Lane):
            return lane
        is_own_tree = lane.directory == _git_directory(environment)
        if hook != "pre-commit":
            updates = [Update(*line.split(" ", 2)) for line in hook_input.splitlines()]
            return _check_updates(lane, updates, is_own_tree)
        if not is_own_tree:
            return _wrong_worktree(lane)
        return _check_staged(lane, environment)
    except (DosError, OSError, ValueError) as error:
        return HookRefusal(
            f"this could not be checked: {error}", "Stop and report this; a person has to fix it."
        )


def _find_lane(environment: Mapping[str, str]) -> Lane | HookRefusal | None:
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
    if found.common is None or found.common != _common_directory(_git_directory(environment)):
        return None
    lost = _lease_lost(found, name, int(fence))
    if lost:
        return lost
    with World(found.root, lenient=True) as world:
        region = _lane_region(world, name, int(fence))
        if isinstance(region, HookRefusal):
            return region
        is_shared = world.config.workers.isolation == "shared"
    if is_shared:
        tree = Writer(found.tree)
        return Lane(
            name=name,
            region=region,
            prefix=found.prefix,
            tree=tree,
            directory=found.common,
            branch=tree.branch() or "",
        )
    worktree = _worktree(found.common, name, _git_directory(environment))
    if worktree is None:
        return HookRefusal(
            f"lane {name!r} has no work tree in {found.common}", "Stop and report this."
        )
    return Lane(
        name=name,
        region=region,
        prefix=found.prefix,
        tree=Writer(worktree[0]),
        directory=worktree[1],
    )


def _worktree(common: Path, lane: str, here: Path) -> tuple[Path, Path] | None:
    """A lane's work tree and git's files of it, as git records them.

    The agent's home may differ from its worker's, so the path cannot be computed. Only a tree that
    a worker made ready, with the lane's name, counts. Of several, the one at `here` is preferred.
    """
    found = None
    for pointer in (common / "worktrees").glob("*/gitdir"):
        text = pointer.read_text(encoding="utf-8", errors="surrogateescape")
        git_file = pointer.parent / text.rstrip("\n")
        directory = Path(os.path.realpath(pointer.parent))
        if git_file.parent.name == slug(lane) and (directory / _READY).exists():
            found = git_file.parent, directory
            if directory == here:
                break
    return found


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


def _lane_region(world: World, lane: str, fence: int) -> Region | HookRefusal:
    """The region of the lease; where the journal is not a local file, the region in dos.toml."""
    leases = _leases(world)
    if leases is not None:
        for lease in leases:
            if lease.fence == fence and lease.lane == lane:
                return lease.region
        return _not_holder(lane, fence, "the journal holds no such lease")
    problems = world.loaded_config.problems
    if problems:
        return HookRefusal(
            f"the region of lane {lane!r} cannot be read: {problems[0]}",
            "Stop and report this; a person has to fix dos.toml.",
        )
    name = world.config.canonical_lane(lane)
    if name:
        region = world.config.lane_region(name)
        if region:
            return region
    return HookRefusal(
        f"there is no lane {lane!r} in {world.workspace.config}", "Stop and report this."
    )


def _check_staged(lane: Lane, environment: Mapping[str, str]) -> HookRefusal | None:
    """Every staged change lies in the lane's region.

    A merge may bring in changes of others: only paths that differ from all parents count.
    """
    parents = ["HEAD"]
    merge_heads = lane.directory / "MERGE_HEAD"
    if merge_heads.exists():
        parents += merge_heads.read_text().split()
    if lane.tree.commit_of("HEAD") is None:
        parents = [lane.tree.run("hash-object", "-t", "tree", "--stdin", feed="").strip()]
    index = environment.get("GIT_INDEX_FILE", "")
    if index:
        index = str(Path.cwd() / index)
    staged = [set(_paths(lane.tree.run(*_DIFF_INDEX, parent, index=index))) for parent in parents]
    return _check_paths(lane, set.intersection(*staged))


def _check_updates(lane: Lane, updates: Sequence[Update], is_own_tree: bool) -> HookRefusal | None:
    """Check every ref that git is about to move; the first refusal counts."""
    branch = ""
    if lane.branch and is_own_tree:
        branch = f"refs/heads/{lane.branch}"
    # In a shared tree HEAD may move only together with the branch.
    head_may_move = is_own_tree and (not branch or any(item.ref == branch for item in updates))
    for update in updates:
        if update.ref == "HEAD":
            refused = _check_head(lane, update, head_may_move)
        elif update.ref == branch and not update.deletes:
            refused = _check_branch(lane, branch, update)
        else:
            refused = _check_other_ref(lane, update)
        if refused:
            return refused
    return None


def _check_head(lane: Lane, update: Update, may_move: bool) -> HookRefusal | None:
    """HEAD may move only in the lane's own tree, to commits of the lane."""
    if not may_move:
        return _wrong_worktree(lane)
    return _check_commits(lane, update.new, _EXISTING_REFS)


def _check_branch(lane: Lane, branch: str, update: Update) -> HookRefusal | None:
    """Also check what the update removes: the branch holds commits of other lanes too."""
    added = _check_commits(lane, update.new, _EXISTING_REFS)
    return added or _check_commits(lane, branch, (update.new,))


def _check_other_ref(lane: Lane, update: Update) -> HookRefusal | None:
    """Refuse changes of other worktrees, branches, tags and dos's own refs."""
    namespace = update.ref.partition("/")[0]
    if update.ref.endswith("/HEAD") and "worktree" in namespace:
        return _wrong_worktree(lane)
    if update.ref.startswith("refs/tags/"):
        return _check_tag(lane, update)
    is_guarded = update.ref.startswith(("refs/heads/", "refs/dos/", "refs/notes/dos"))
    if is_guarded and not _only_packs(lane, update):
        return _forbidden_ref(lane, update.ref)
    return None


def _check_commits(lane: Lane, new: str, known: Sequence[str]) -> HookRefusal | None:
    """Every commit of `new` that `known` does not reach changes only paths of the lane."""
    if new.startswith("ref:"):
        # HEAD moves to a branch. A commit there would move that branch, and that is refused.
        return None
    commits = lane.tree.run("rev-list", new, "--not", *known)
    if not commits:
        return None
    changed = _paths(lane.tree.run(*_DIFF_TREE, feed=commits))
    return _check_paths(lane, set(changed))


def _check_tag(lane: Lane, update: Update) -> HookRefusal | None:
    """An agent may create tags on its own commits; it may not move or delete tags."""
    if _only_packs(lane, update):
        return None
    if update.deletes or lane.tree.object_of(update.ref):
        return _forbidden_ref(lane, update.ref)
    commit = lane.tree.commit_of(update.new)
    if commit is None:
        return None
    return _check_commits(lane, commit, _EXISTING_REFS)


def _only_packs(lane: Lane, update: Update) -> bool:
    """Whether `git gc` only moves the ref to `packed-refs`, without changing its value.

    Git writes the packed file first and deletes the loose file of the ref then.
    """
    if not update.deletes:
        return lane.tree.object_of(update.ref) == update.new
    packed = _common_directory(lane.directory) / "packed-refs"
    # A real deletion locks the packed file first.
    if not packed.exists() or packed.with_name("packed-refs.lock").exists():
        return False
    text = packed.read_text(encoding="utf-8", errors="surrogateescape")
    return f"{update.old} {update.ref}" in text.splitlines()


def _check_paths(lane: Lane, paths: set[str]) -> HookRefusal | None:
    """Refuse paths outside of the lane's region."""
    strays = []
    for path in sorted(paths):
        if not regions.lane_holds(lane.region, path, lane.prefix):
            strays.append(path)
    if not strays:
        return None
    names = ", ".join(printable_path(replace_undecodable(path)) for path in strays[:_MOST_SHOWN])
    if len(strays) > _MOST_SHOWN:
        names += f" and {len(strays) - _MOST_SHOWN} more"
    verb = "lie"
    if len(strays) == 1:
        verb = "lies"
    globs = ", ".join(lane.region.globs) or "nothing"
    return HookRefusal(
        f"{names} {verb} outside of lane {lane.name!r}, which is {globs}",
        "Commit without it (git restore --staged -- PATH). Leave paths of other lanes unchanged;"
        " report what you need there.",
    )


def _wrong_worktree(lane: Lane) -> HookRefusal:
    """The refusal of a commit in another work tree than the lane's."""
    return HookRefusal(
        f"this is not where lane {lane.name!r} works",
        f"{_where_to_commit(lane)} Accepted work is landed from there.",
    )


def _forbidden_ref(lane: Lane, ref: str) -> HookRefusal:
    """The refusal of a ref that agents must not change."""
    return HookRefusal(
        f"{printable_path(replace_undecodable(ref))} is not for an agent to create, move or delete",
        f"{_where_to_commit(lane)} Accepted work is landed from there.",
    )


def _where_to_commit(lane: Lane) -> str:
    """The advice where the agent has to commit."""
    if lane.branch:
        return f"Commit in {lane.tree.tree}, on {lane.branch!r}, and only there."
    return f"Commit in {lane.tree.tree}, on no branch (git switch --detach), and only there."


def _git_directory(environment: Mapping[str, str]) -> Path:
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


def _paths(text: str) -> list[str]:
    """The paths of git's output with `-z`."""
    return [path for path in text.split("\0") if path]
