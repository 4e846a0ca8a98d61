"""What git's own files say, read without starting git, which would take as long as a whole verb.

Also where dos keeps its index of commit messages.
"""

import os
import stat
from pathlib import Path

from dos.git.repository import Reader
from dos.workspace import Workspace

_DIGITS = frozenset("0123456789abcdef")
_HASH_LENGTHS = (40, 64)
MOST_STEPS = 5  # a ref may name a ref
LONGEST_REF = 4096
LARGEST_BYTES = 4_000_000
MOST_ALTERNATES = 100


def head_commit(workspace: Workspace) -> str:
    """Return the full name of the commit at HEAD; "" without a repository or a commit.

    Git itself is asked where its files do not say it plainly.
    """
    common = workspace.common
    if common is None:
        return ""
    commit = _read_head(common, git_directory(workspace, common))
    return commit or Reader(workspace.tree).commit_of("HEAD") or ""


def git_directory(workspace: Workspace, common: Path) -> Path:
    """Return the directory with this worktree's HEAD: a linked worktree has one of its own."""
    marker = workspace.tree / ".git"
    if marker.is_dir():
        return common
    return marker.parent / (_ref_text(marker) or "").removeprefix("gitdir:").strip()


def _read_head(common: Path, directory: Path) -> str | None:
    """Follow HEAD to a commit; None when the files do not show it, as with reftable."""
    text = _ref_text(directory / "HEAD")
    for _ in range(MOST_STEPS):
        if text is None or (len(text) in _HASH_LENGTHS and _DIGITS.issuperset(text)):
            return text
        name = text.removeprefix("ref: ")
        if name == text or not name.startswith("refs/heads/") or ".." in name:
            return None
        text = _ref_text(common / name) or _packed_ref(common, name)
    return None


def _packed_ref(common: Path, name: str) -> str | None:
    ending = f" {name}\n"
    try:
        with (common / "packed-refs").open(encoding="utf-8") as file:
            for line in file:
                if line.endswith(ending):
                    return line.removesuffix(ending)
    except (OSError, UnicodeDecodeError):
        return None
    return None


def _ref_text(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST_REF).strip()
    except (OSError, UnicodeDecodeError):
        return None


def message_index_path(workspace: Workspace) -> Path | None:
    """Return the file of the message index; None where none can be kept.

    It is in the state directory. For a repository that was not set up for dos it is in the user's
    cache, so that a question leaves no trace in the repository.
    """
    common = workspace.common
    if workspace.state.is_dir() or workspace.config.exists():
        if common is None or not os.access(common, os.W_OK):
            return None
        return workspace.state / "history.sqlite"
    if common is None:
        return None
    folder = _cache_folder()
    if folder is None:
        return None
    from hashlib import sha256  # few verbs come here

    return folder / f"{sha256(os.fsencode(common)).hexdigest()[:24]}.sqlite"


def _cache_folder() -> Path | None:
    """Create and return the folder for indexes in the user's cache; None where there is no home."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    if not os.path.isabs(cache) or not Path(cache).parent.is_dir():  # noqa: PTH117
        return None
    folder = Path(cache) / "dos" / "history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # the history is read without an index
    return folder


def is_shallow(workspace: Workspace) -> bool:
    """Whether this is a shallow clone, whose history is cut off."""
    return bool(shallow_boundary(workspace))


def shallow_boundary(workspace: Workspace) -> str:
    """Return git's list of the commits whose parents a shallow clone does not have."""
    if workspace.common is None:
        return ""
    return read_small_file(workspace.common / "shallow")


def object_folders(common: Path) -> tuple[Path, ...]:
    """Return all folders that git reads the objects of a repository from, its own first.

    The others are its alternates, and theirs. A folder without packs is none of git's.
    """
    folders = [common / "objects"]
    for folder in folders:
        for line in read_small_file(folder / "info" / "alternates").splitlines():
            other = Path(os.path.normpath(folder / line.strip()))
            if line.startswith("#") or other in folders or len(folders) > MOST_ALTERNATES:
                continue
            if line.strip() and (other / "pack").is_dir():
                folders.append(other)
    return tuple(folders)


def submodule_objects(modules: Path) -> tuple[Path, ...]:
    """Return the object folders of the repositories of submodules, and of theirs.

    `modules` is where a repository keeps them, by their names, which may have slashes.
    """
    found = []
    for folder, inside, names in os.walk(modules):
        if "HEAD" in names and "objects" in inside:
            found.append(Path(folder, "objects"))
            inside[:] = [name for name in inside if name == "modules"]
    return tuple(found)


def has_replacements(workspace: Workspace) -> bool:
    """Whether replacement refs tell git to show other objects in the place of some."""
    return has_refs(workspace, "refs/replace")


def has_refs(workspace: Workspace, name: str) -> bool:
    """Whether there is a ref of that name, or one below it."""
    if workspace.common is None:
        return False
    loose = workspace.common / name
    if loose.is_file() or (loose.is_dir() and any(loose.iterdir())):
        return True
    packed = read_small_file(workspace.common / "packed-refs")
    return f" {name}\n" in packed or f" {name}/" in packed


def read_small_file(path: Path) -> str:
    """Return the beginning of a regular file as text, up to `LARGEST_BYTES`; "" without one."""
    try:
        # Non-blocking: a pipe in its place would block until something is written to it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(LARGEST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
