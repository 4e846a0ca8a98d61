"""Writes the files of a commit into a folder of their own, and removes such a folder, whatever was done to it."""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from dos.errors import DosError, GitFailed
from dos.git.objects import SUBMODULE, Entry, Objects
from dos.git.repository import Reader
from dos.text import LONGEST_PATH, quote

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write(git: Reader, files: Mapping[str, Entry], place: Path, moment: int) -> None:
    """Every file gets the same time, so that none tells which side it comes from."""
    place.mkdir(mode=0o755)
    made, times = {place}, (moment, moment)
    try:
        with Objects(git) as objects:
            for path, file in files.items():
                target = place / _checked(path)
                _make(target.parent, made)
                _one(objects, target, file)
                os.utime(target, times, follow_symlinks=False)
        for folder in made:
            os.utime(folder, times)
    except OSError as error:
        raise DosError(
            f"the files of a commit cannot be written to {place}: {error.strerror}",
            hint="Make room, or set TMPDIR to a place that has it.",
        ) from error


def _make(folder: Path, made: set[Path]) -> None:
    """Nothing is ever written through what we did not make: a link or a file of that name is refused."""
    if folder not in made:
        _make(folder.parent, made)
        folder.mkdir(mode=0o755)
        made.add(folder)


def _one(objects: Objects, path: Path, file: Entry) -> None:
    if file.mode == SUBMODULE:
        return path.mkdir(mode=0o755)  # its files are another repository's
    content = objects.blob(file.sha)
    if content is None:
        raise GitFailed(
            f"the object {file.sha} cannot be read: it is not there", hint="`git fsck` says more."
        )
    if stat.S_ISLNK(file.mode):
        return path.symlink_to(os.fsdecode(content))
    with os.fdopen(os.open(path, _NEW_FILE, 0o600), "wb") as target:
        target.write(content)
        os.fchmod(target.fileno(), 0o755 if file.mode & stat.S_IXUSR else 0o644)
    return None


def remove(place: Path) -> None:
    """All of it: a folder that the tests closed to themselves is opened first."""
    try:
        if not place.exists():
            return
        place.chmod(stat.S_IRWXU)
        for folder, below, _ in os.walk(place):
            for path in (Path(folder, name) for name in below):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(place)
    except OSError as error:
        raise DosError(
            f"{place} cannot be removed: {error.strerror}", hint=f"Remove it by hand: rm -r {place}"
        ) from error


def _checked(path: str) -> str:
    """Git itself would not write such a name; a tree that was made by hand can hold it."""
    names = path.split("/")
    if {"", ".", ".."}.isdisjoint(names) and all(name.lower() != ".git" for name in names):
        return path
    raise GitFailed(
        f"the commit holds a file named {quote(path, LONGEST_PATH)}, which no checkout may write",
        hint="`git fsck` says more; somebody made this tree by hand.",
    )
