"""The commit that is checked out, read from git's own files: starting git would take as long as the rest of a verb."""

from pathlib import Path

from dos.git.repository import Reader
from dos.workspace import Workspace

_DIGITS = frozenset("0123456789abcdef")
_HASH_LENGTHS = (40, 64)
MOST_STEPS = 5  # a ref may name a ref
LONGEST_REF = 4096


def commit(workspace: Workspace) -> str:
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
