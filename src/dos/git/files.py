"""The commit that is checked out, read from git's own files: starting git would take as long as the rest of a verb."""

import os
import stat
from hashlib import sha256
from pathlib import Path

from dos.git.repository import Reader
from dos.workspace import Workspace

_DIGITS = frozenset("0123456789abcdef")
_HASH_LENGTHS = (40, 64)
MOST_STEPS = 5  # a ref may name a ref
LONGEST_REF = 4096


def head_commit(workspace: Workspace) -> str:
    """The full name of the commit at HEAD; empty where there is none. What is not plain is left to git itself."""
    if workspace.common is None:
        return ""
    return (
        _read(workspace.common, _own_directory(workspace, workspace.common))
        or Reader(workspace.tree).commit_of("HEAD")
        or ""
    )


def _own_directory(workspace: Workspace, common: Path) -> Path:
    """Where this work tree keeps its HEAD: a linked one has a directory of its own."""
    marker = workspace.tree / ".git"
    if marker.is_dir():
        return common
    return marker.parent / (_text(marker) or "").removeprefix("gitdir:").strip()


def _read(common: Path, own: Path) -> str | None:
    """None when the files do not say it, as with another way to keep refs."""
    text = _text(own / "HEAD")
    for _ in range(MOST_STEPS):
        if text is None or (len(text) in _HASH_LENGTHS and _DIGITS.issuperset(text)):
            return text
        name = text.removeprefix("ref: ")
        if name == text or not name.startswith("refs/heads/") or ".." in name:
            return None
        text = _text(common / name) or _packed(common, name)
    return None


def _packed(common: Path, name: str) -> str | None:
    try:
        with (common / "packed-refs").open(encoding="utf-8") as file:
            return next(
                (line[: -len(name) - 2] for line in file if line.endswith(f" {name}\n")), None
            )
    except (OSError, UnicodeDecodeError):
        return None


def _text(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST_REF).strip()
    except (OSError, UnicodeDecodeError):
        return None


LARGEST_BYTES = 4_000_000


def message_index_path(workspace: Workspace) -> Path | None:
    """In the state directory. For a repository that nobody set up it is outside of it: a question leaves no trace."""
    if workspace.state.is_dir() or workspace.config.exists():
        return (
            workspace.state / "history.sqlite"
            if workspace.common and os.access(workspace.common, os.W_OK)
            else None
        )
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    if not os.path.isabs(cache) or workspace.common is None:  # noqa: PTH117
        return None
    if not Path(cache).parent.is_dir():
        return None  # whoever has no home does not get one from us
    folder = Path(cache) / "dos" / "history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # the history itself answers
    return folder / f"{sha256(os.fsencode(workspace.common)).hexdigest()[:24]}.sqlite"


def is_shallow(workspace: Workspace) -> bool:
    return bool(shallow_boundary(workspace))


def shallow_boundary(workspace: Workspace) -> str:
    """The commits whose parents a shallow clone does not have, as git notes them."""
    return read_small_file(workspace.common / "shallow") if workspace.common else ""


def has_replacements(workspace: Workspace) -> bool:
    """Whether git was told to show other objects in the place of some."""
    return has_refs(workspace, "refs/replace")


def has_refs(workspace: Workspace, name: str) -> bool:
    """Whether there is a ref of that name, or one under it. Read by hand: git would take as long as the rest."""
    if workspace.common is None:
        return False
    loose = workspace.common / name
    if loose.is_file() or (loose.is_dir() and any(loose.iterdir())):
        return True
    packed = read_small_file(workspace.common / "packed-refs")
    return f" {name}\n" in packed or f" {name}/" in packed


def read_small_file(path: Path) -> str:
    """The text of a file of a sensible size; empty when there is none."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""  # a pipe that nobody writes to would hold us up
            return file.read(LARGEST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
