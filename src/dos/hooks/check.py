"""Decide whether an agent may commit or move a ref. Git's hooks call this.

The answer comes from git's own files and the journal. An agent that disables the hooks is not
stopped here: its work is measured again before it lands.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from dos import regions
from dos.errors import DosError
from dos.hooks.lane import HookRefusal, Lane, find_lane, git_directory
from dos.text import printable_path, replace_undecodable

_MOST_SHOWN = 3
_EXISTING_REFS = ("HEAD", "--branches", "--remotes", "--tags")  # commits in these are not new
_DIFF_INDEX = (
    *("diff-index", "--cached", "-z", "--no-renames", "--name-only"),
    "--ignore-submodules=none",
)
_DIFF_TREE = (
    *("diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--no-commit-id", "--no-renames"),
    *("--name-only", "--ignore-submodules=none"),
)


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
        lane = find_lane(environment)
        if not isinstance(lane, Lane):
            return lane
        is_own_tree = lane.directory == git_directory(environment)
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
    has_own_repository = is_own_tree and not lane.branch
    # In a shared tree HEAD may move only together with the branch.
    head_may_move = is_own_tree and (not branch or any(item.ref == branch for item in updates))
    for update in updates:
        if update.ref == "HEAD":
            refused = _check_head(lane, update, head_may_move)
        elif has_own_repository:
            refused = _check_own_ref(lane, update)
        elif update.ref == branch and not update.deletes:
            refused = _check_branch(lane, branch, update)
        else:
            refused = _check_other_ref(lane, update)
        if refused:
            return refused
    return None


def _check_own_ref(lane: Lane, update: Update) -> HookRefusal | None:
    """Any ref of the lane's own repository may move; its branches, to commits of the lane."""
    if update.deletes or not update.ref.startswith("refs/heads/"):
        return None
    return _check_commits(lane, update.new, _EXISTING_REFS)


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
    commits = lane.tree.run("rev-list", new, "--not", *known, *_users_commits(lane))
    if not commits:
        return None
    changed = _paths(lane.tree.run(*_DIFF_TREE, feed=commits))
    return _check_paths(lane, set(changed))


def _users_commits(lane: Lane) -> list[str]:
    """The commits of the user's branches, whose objects a lane's own repository can read."""
    if lane.branch:
        return []  # all lanes share that repository
    names = ("refs/heads/", "refs/remotes/", "refs/dos/shared/heads/")
    return lane.repository.run("for-each-ref", "--format=%(objectname)", *names).split()


def _check_tag(lane: Lane, update: Update) -> HookRefusal | None:
    """An agent of a shared tree may create tags on its own commits; none may move or delete any."""
    if _only_packs(lane, update):
        return None
    if not lane.branch or update.deletes or lane.tree.object_of(update.ref):
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
        return lane.repository.object_of(update.ref) == update.new
    packed = lane.common / "packed-refs"
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


def _paths(text: str) -> list[str]:
    """The paths of git's output with `-z`."""
    return [path for path in text.split("\0") if path]
