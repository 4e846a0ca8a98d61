"""Temporary folders of agents and checks: one for each start, and removed with it.

A folder belongs to the process that holds the lock on it. The kernel frees the lock when that
process dies, so that the folders of killed workers can be told from those in use.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from dos.machine import filesystem

# A unix socket has a path of at most 107 bytes, and programs make some below TMPDIR.
LONGEST_TEMPORARY = 40
MOST_TRIES = 100  # to make a folder that no other process takes for one of a dead worker


class TemporaryFolders:
    """The temporary folders of a workspace, all in one folder: its path is always the same.

    So what a killed worker left is found.
    """

    def __init__(self, homes: Path) -> None:
        """`homes` is the folder of the private homes, by which the workspace is known."""
        parent = tempfile.gettempdir()
        if len(parent) > LONGEST_TEMPORARY and os.access("/tmp", os.W_OK):
            parent = "/tmp"
        self._root = Path(parent, f"dos-{_short_name(homes)}")

    @contextmanager
    def folder(self, place: Path) -> Iterator[Path]:
        """Make an empty folder that only this user can enter; it is removed with the block.

        It is named by `place`, the folder of a home. Where another user has taken the name of the
        folder around it, it is below `place`, with a longer path.
        """
        path = place / "tmp"
        with suppress(OSError):
            self._root.mkdir(mode=0o700, exist_ok=True)
        if self._is_own():
            path = self._root / _short_name(place)
        lock = _make_locked(path)
        try:
            yield path
        finally:
            clear(path)
            os.close(lock)
            with suppress(OSError):  # others are in use
                self._root.rmdir()

    def remove_abandoned(self) -> None:
        """Remove the folders of processes that have died; what cannot be removed stays."""
        if not self._is_own():
            return
        for path in list(self._root.iterdir()):
            with suppress(OSError):
                _remove_unlocked(path)
        with suppress(OSError):  # others are in use
            self._root.rmdir()

    def _is_own(self) -> bool:
        """Whether the folder around all of them is there and is this user's."""
        try:
            status = self._root.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def clear(path: Path) -> None:
    """Remove what is at a path; what cannot be removed, as files of another user, is moved aside.

    Raises OSError where even that fails.
    """
    if not os.path.lexists(path):
        return
    try:
        filesystem.remove_tree(path)
    except OSError:
        path.rename(path.with_name(f"{path.name}.old-{os.urandom(6).hex()}"))


def _make_locked(path: Path) -> int:
    """Make a folder in place of what is there, and return a descriptor that locks it."""
    for _ in range(MOST_TRIES):
        clear(path)
        path.mkdir(mode=0o700)
        # Until it is locked, another process may remove it as one of a dead worker.
        with suppress(FileNotFoundError):
            lock = _open(path)
            is_locked = filesystem.lock_file(lock, gives_up=_at_once)
            with suppress(FileNotFoundError):
                if is_locked and os.path.samestat(os.fstat(lock), path.lstat()):
                    return lock
            os.close(lock)
    raise FileExistsError(f"{path} was removed {MOST_TRIES} times by other processes")


def _remove_unlocked(path: Path) -> None:
    try:
        lock = _open(path)
    except PermissionError:  # its program closed it
        path.chmod(0o700)
        lock = _open(path)
    try:
        if filesystem.lock_file(lock, gives_up=_at_once):
            filesystem.remove_tree(path)
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _at_once() -> bool:
    return True


def _short_name(path: Path) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:10]
