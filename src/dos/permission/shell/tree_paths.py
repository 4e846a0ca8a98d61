"""Paths of a tool call in the form of a footprint, computed without looking at the disk."""

import posixpath


def from_tree(path: str, *, base: str, root: str) -> str:
    """Return a path relative to the top of the work tree; one outside of it is absolute.

    `base` is the folder that a relative path starts in. A path in the home of the user keeps its
    `~`: which folder that is depends on who runs the program; another name with `~` begins with
    "./". The top itself is ".". A `..` stays
    where it may follow a link: then only the disk knows where it leads.
    """
    if path == "~" or path.startswith("~/"):
        return path
    top = posixpath.normpath(root or "/")
    joined = posixpath.join(top, base, path)
    full = posixpath.normpath(joined)
    if full.startswith("//"):
        full = full[1:]
    if full == top and ".." not in joined:
        return "."
    inside = top if top.endswith("/") else f"{top}/"
    if ".." in joined.split("/"):
        found = _with_parents(joined, inside)
    elif full.startswith(inside):
        found = full[len(inside) :]
    else:
        return "." if full == top else full
    return f"./{found}" if found.startswith("~") else found


def _with_parents(path: str, inside: str) -> str:
    """A path with its `..`, relative where it begins in the work tree and ends there."""
    names = [name for name in path.split("/") if name not in ("", ".")]
    plain = "/" + "/".join(names)
    if plain.startswith(inside) and posixpath.normpath(plain).startswith(inside):
        return plain[len(inside) :]
    return plain
