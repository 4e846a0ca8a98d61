"""Lanes without any work to come: what is left of them, and how it is removed.

They are those that dos.toml no longer declares, and the parts of repeatable lanes whose units have
landed.

A lane has a folder, a private home with caches, marks beside these, and refs in the user's
repository. Its fence stays: it refuses a worker that comes back late.
"""

from collections.abc import Iterable
from pathlib import Path

from dos.errors import GitUnanswered
from dos.fleet.effects import Salvage
from dos.git.repository import Reader, Writer
from dos.landing.lane import salvage_writer
from dos.landing.lane.repository import BASE_REFS, PROGRESS_REFS, SETTLED_REFS, WORK_REFS
from dos.machine import filesystem
from dos.machine.filesystem import is_real_folder
from dos.text import slug
from dos.workspace import Workspace

WHY = "its lane was removed"
_REFS = (WORK_REFS, PROGRESS_REFS, SETTLED_REFS, BASE_REFS)


def retired_lanes(workspace: Workspace, git: Reader, lanes: Iterable[str]) -> list[str]:
    """Return the slugs of lanes that have left something and are not among `lanes`.

    A folder counts only if it is a repository: what else is there is nobody's lane.
    """
    names = set()
    others = _lanes_of_other_roots(workspace)
    for ref in git.run("for-each-ref", "--format=%(refname)", *_REFS).split():
        name = ref.rpartition("/")[2]
        if name not in others:
            names.add(name)
    for folder in _entries(workspace.worktrees):
        if is_real_folder(folder / ".git"):
            names.add(folder.name)
    names.update(folder.name for folder in _entries(workspace.homes))
    return sorted(names - {slug(lane) for lane in lanes})


def _lanes_of_other_roots(workspace: Workspace) -> set[str]:
    """Return the lanes of other dos.toml in the same repository: they share its refs."""
    mine = workspace.worktrees.parent
    names: set[str] = set()
    for folder in mine.parent.glob(f"*-{mine.name.rpartition('-')[2]}"):
        if folder != mine:
            names.update(entry.name for entry in _entries(folder / "worktrees"))
    return names


def retire(workspace: Workspace, git: Writer, name: str) -> list[Salvage]:
    """Remove what is left of a lane, and return the work of it that had to be saved first.

    `name` is a slug of `retired_lanes`, and no worker may have the lane. A folder whose work was
    settled is removed; any other is moved to the saved work as it is. It can be repeated.
    """
    salvaged: list[Salvage] = []
    folder = workspace.worktrees / name
    if git.object_of(f"{SETTLED_REFS}{name}") is None:
        salvaged += _save_commits(git, name)
        if is_real_folder(folder / ".git"):
            salvaged += salvage_writer.save_folder(folder, workspace.state, name, WHY)
    elif is_real_folder(folder / ".git"):
        filesystem.remove_tree(folder)
    marks = workspace.worktrees.with_name("lanes")
    for ending in ("ready", "distrusted", "index"):
        (marks / f"{name}.{ending}").unlink(missing_ok=True)
    filesystem.remove_tree(workspace.homes / name)
    # The ref that says that nothing is left to save goes last but one, for whoever repeats this.
    for prefix in _REFS:
        _remove_ref(git, f"{prefix}{name}")
    return salvaged


def remove_settled(workspace: Workspace, git: Writer, lanes: Iterable[str]) -> None:
    """Remove what is left of lanes that no worker takes again and whose work was settled.

    A lane with work that nobody has saved stays as it is, for `retire`.
    """
    names = {slug(lane) for lane in lanes}
    for name in retired_lanes(workspace, git, ()):
        if name in names and git.object_of(f"{SETTLED_REFS}{name}") is not None:
            retire(workspace, git, name)


def _remove_ref(git: Writer, ref: str) -> None:
    old = git.object_of(ref)
    if old is None:
        return
    refused = git.swap_ref(ref, None, old)
    if refused:
        raise GitUnanswered(f"{ref} could not be removed: {refused}")


def _save_commits(git: Writer, name: str) -> list[Salvage]:
    """Save what was taken over of the lane, and its base: the folder needs that one's objects."""
    base = git.commit_of(f"{BASE_REFS}{name}")
    salvaged: list[Salvage] = []
    for prefix in (WORK_REFS, PROGRESS_REFS):
        salvaged += _save_unless_on_a_branch(git, name, git.commit_of(f"{prefix}{name}"), "commits")
    # Commits that were saved keep their base.
    if not salvaged:
        salvaged += _save_unless_on_a_branch(git, name, base, "its base")
    return salvaged


def _save_unless_on_a_branch(
    git: Writer, name: str, commit: str | None, what: str
) -> list[Salvage]:
    if commit is None or salvage_writer.is_saved(git, commit):
        return []
    if git.run("for-each-ref", "--count=1", f"--contains={commit}", "refs/heads/"):
        return []
    return [salvage_writer.save_to_ref(git, name, commit, f"{WHY}: {what}")]


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(folder.iterdir())
