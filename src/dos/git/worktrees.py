"""The worktrees that git lists: the user's checkouts of one repository."""

import os

from dos import workspace
from dos.git.files import git_directory
from dos.git.repository import Reader


def list_worktrees(git: Reader) -> list[list[str]]:
    """Return git's lines for each worktree it knows; the first line is `worktree PATH`."""
    listing = git.run("worktree list", "--porcelain", "-z")
    entries = [entry.strip("\0") for entry in listing.split("\0\0")]
    worktrees = [entry.split("\0") for entry in entries if entry]
    place = workspace.find(git.tree)
    for lines in worktrees:
        if lines[0] == f"worktree {place.common}" and _is_main_checkout(place):
            lines[0] = f"worktree {place.tree}"
    return worktrees


def _is_main_checkout(place: workspace.Workspace) -> bool:
    """Whether the tree's git directory is the repository's own.

    Where that is not `.git` in the tree (a submodule, `--separate-git-dir`), git lists the
    directory in place of the checkout.
    """
    common = place.common
    return common is not None and os.path.realpath(git_directory(place, common)) == str(common)
