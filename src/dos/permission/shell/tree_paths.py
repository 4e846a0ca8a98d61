"""Paths of a tool call in the form of a footprint, computed without looking at the disk."""

import posixpath

from dos.permission.shell.syntax.tokens import Word

_STREAMS = frozenset(
    f"/dev/{name}" for name in ("null", "stdout", "stderr", "tty", "zero", "full", "ptmx")
)
_NETWORK = ("/dev/tcp/", "/dev/udp/")


def enter(path: str | None, folder: Word) -> str | None:
    """Return the folder after `cd FOLDER`; None: it is not known.

    As in shells `..` undoes the last name, also where that is a link.
    """
    if not folder.is_literal or folder.has_glob or folder.has_brace:
        return None
    if folder.has_tilde:
        is_own = folder.text == "~" or folder.text.startswith("~/")
        return folder.text if is_own else None
    if folder.text.startswith("/"):
        return posixpath.normpath(folder.text)
    if path is not None and folder.text:
        return posixpath.normpath(f"{path}/{folder.text}")
    return path


def is_stream(path: str) -> bool:
    """Whether what is written to a path lands in no file."""
    return path in _STREAMS or path.startswith(("/dev/fd/", "/dev/pts/", *_NETWORK))


def is_network(path: str) -> bool:
    """Whether a shell takes a path of a redirection for a host and a port."""
    return path.startswith(_NETWORK)


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
