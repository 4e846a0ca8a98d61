"""Writes the files of a commit into a folder of their own, and removes such a folder, whatever was done to it."""

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from dos.errors import DosError, GitFailed
from dos.records.names import LONGEST_PATH, shown
from dos.sources.committed_files import EXECUTABLE, LINK, SUBMODULE, Blobs, File
from dos.sources.git import Git

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write(git: Git, files: Mapping[str, File], place: Path, moment: int) -> None:
    """Every file gets the same time, so that none tells which side it comes from."""
    place.mkdir(mode=0o755)
    try:
        with Blobs(git) as blobs:
            _Writing(blobs, place, moment).write(files)
    except OSError as error:
        raise DosError(
            f"the files of a commit cannot be written to {place}: {error.strerror}",
            hint="Make room, or set TMPDIR to a place that has it.",
        ) from error


class _Writing:
    def __init__(self, blobs: Blobs, place: Path, moment: int) -> None:
        self._blobs = blobs
        self._place = place
        self._moment = (moment, moment)
        self._folders = {""}  # those that we made: nothing is ever written through anything else

    def write(self, files: Mapping[str, File]) -> None:
        for path, file in files.items():
            self._make(_checked(path).rpartition("/")[0])
            self._one(self._place / path, file)
        for folder in self._folders:
            os.utime(self._place / folder, self._moment)

    def _make(self, folder: str) -> None:
        if folder not in self._folders:
            self._make(folder.rpartition("/")[0])
            (self._place / folder).mkdir(mode=0o755)  # a link or a file of that name is refused
            self._folders.add(folder)

    def _one(self, path: Path, file: File) -> None:
        if file.mode == SUBMODULE:
            path.mkdir(mode=0o755)  # its files are another repository's
        elif file.mode == LINK:
            pieces: list[bytes] = []
            self._blobs.copy(file.blob, pieces.append)
            path.symlink_to(os.fsdecode(b"".join(pieces)))
        else:
            with os.fdopen(os.open(path, _NEW_FILE, 0o600), "wb") as target:
                self._blobs.copy(file.blob, target.write)
                os.fchmod(target.fileno(), 0o755 if file.mode == EXECUTABLE else 0o644)
        os.utime(path, self._moment, follow_symlinks=False)


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
        f"the commit holds a file named {shown(path, LONGEST_PATH)}, which no checkout may write",
        hint="`git fsck` says more; somebody made this tree by hand.",
    )
