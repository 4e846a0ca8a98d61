"""Whether a path is inside a region, for hooks, protocols and the commit gate, and its words."""

from collections.abc import Sequence

from dos import regions
from dos.globs import path_key
from dos.regions import Region
from dos.text import printable_path, replace_undecodable

MOST_SHOWN = 5


def holds(region: Region | None, path: str) -> bool:
    """Whether a path of a footprint lies in a region; git's own files and other trees never do."""
    if region is None or is_outside_of_tree(path) or is_git_directory(path):
        return False
    return regions.lane_holds(region, path)


def is_git_directory(path: str) -> bool:
    """Whether a path is git's directory of the work tree, or below it."""
    return (path_key(path) or "").startswith(".git/")


def is_outside_of_tree(path: str) -> bool:
    """Whether a path of a footprint is not in the work tree."""
    return path.startswith(("/", "~"))


def name_paths(paths: Sequence[str]) -> str:
    """Return the paths as a sentence names them: the first few, and how many more."""
    names = ", ".join(printable_path(replace_undecodable(path)) for path in paths[:MOST_SHOWN])
    more = len(paths) - MOST_SHOWN
    return f"{names} and {more} more" if more > 0 else names
