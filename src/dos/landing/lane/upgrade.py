"""Turns the worktree of an earlier version of dos into a lane's repository, with all its work."""

import os
import shutil
from pathlib import Path

from dos.git.repository import Writer
from dos.git.worktrees import list_worktrees

_KEPT = ("index", "rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD")
LONGEST_POINTER = 65_536  # bytes of a file in which git keeps a path


def worktree_head(git: Writer, folder: Path) -> str | None:
    """Return the head that git remembers for a worktree; None where it lists none there."""
    for first, *lines in list_worktrees(git):
        if first == f"worktree {folder.resolve()}" and lines:
            return git.commit_of(lines[0].removeprefix("HEAD "))
    return None


def worktree_directory(folder: Path, common: Path) -> Path | None:
    """Return the directory in which git keeps a worktree's own state; None: it is no worktree.

    Both pointers count, there and back: an agent may have written one of them.
    """
    pointer = folder / ".git"
    if not pointer.is_file() or pointer.is_symlink():
        return None
    directory = _leads_to(pointer)
    back = directory / "gitdir"
    if directory.parent != common / "worktrees" or not back.is_file():
        return None
    if _leads_to(back) != pointer:
        return None
    return directory


def convert(folder: Path, directory: Path, files: dict[str, str]) -> None:
    """Give a worktree a repository of its own, with its index and what was in progress.

    `files` are those of the new repository, whose HEAD is the worktree's. It is made beside the
    folder first: whatever ends this process, the files of the lane stay as they are.
    """
    made = folder.with_name(f"{folder.name}.git.new")
    shutil.rmtree(made, ignore_errors=True)
    for name, text in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    for name in ("refs/heads", "objects/pack"):
        (made / name).mkdir(parents=True, exist_ok=True)
    for name in _KEPT:
        source = directory / name
        if source.is_dir():
            shutil.copytree(source, made / name, symlinks=True)
        elif source.is_file():
            shutil.copy2(source, made / name)
    (folder / ".git").unlink()
    made.rename(folder / ".git")
    forget(directory)


def forget(directory: Path) -> None:
    """Remove git's entry of a worktree, whose work is elsewhere by now."""
    shutil.rmtree(directory)


def _leads_to(pointer: Path) -> Path:
    """Return the path in a pointer file as git reads it; an agent may have written anything."""
    with pointer.open("rb") as file:
        text = os.fsdecode(file.read(LONGEST_POINTER))
    path = text.removeprefix("gitdir: ").partition("\0")[0].rstrip("\n")
    return Path(os.path.realpath(pointer.parent / path))
