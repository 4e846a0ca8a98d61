"""What lies beside the objects of a repository: whether it is cut off, and where the index of its history is."""

import os
import stat
from hashlib import sha256
from pathlib import Path

from dos.workspace import Workspace

LARGEST_BYTES = 4_000_000


def index(workspace: Workspace) -> Path | None:
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
    return bool(cut_off_at(workspace))


def cut_off_at(workspace: Workspace) -> str:
    """The commits whose parents a shallow clone does not have, as git notes them."""
    return small_text(workspace.common / "shallow") if workspace.common else ""


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
    packed = small_text(workspace.common / "packed-refs")
    return f" {name}\n" in packed or f" {name}/" in packed


def small_text(path: Path) -> str:
    """The text of a file of a sensible size; empty when there is none."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""  # a pipe that nobody writes to would hold us up
            return file.read(LARGEST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
