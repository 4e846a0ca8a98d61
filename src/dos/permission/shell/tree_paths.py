"""Paths of a tool call in the form of a footprint, computed without looking at the disk."""

import posixpath


def from_tree(path: str, *, base: str, root: str) -> str:
    """Return a path relative to the top of the work tree; one outside of it is absolute.

    `base` is the folder that a relative path starts in. A path in the home of the user keeps its
    `~`: which folder that is depends on who runs the program. The top itself is ".".
    """
    if path == "~" or path.startswith("~/"):
        return path
    top = posixpath.normpath(root or "/")
    full = posixpath.normpath(posixpath.join(top, base, path))
    if full.startswith("//"):
        full = full[1:]
    if full == top:
        return "."
    inside = top if top.endswith("/") else f"{top}/"
    if full.startswith(inside):
        return full[len(inside) :]
    return full
