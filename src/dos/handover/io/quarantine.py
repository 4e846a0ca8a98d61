"""Folders in which packs wait until they are checked, in the state directory of the workspace.

A folder belongs to the process that holds the lock beside it. The kernel frees the lock when that
process dies, and the next hand-over removes the folder.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from dos.machine.filesystem import lock_file, sync_directory, write_whole

FOLDER = "handover"  # in the state directory
_LOCK = ".lock"
_KEPT = "kept"  # in a quarantine folder: the path of a `.keep` file that this process wrote
MOST_NAMES = 100  # attempts to make a folder that no other process removes at once


class Quarantine:
    """One folder, locked by this process until it is removed."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.objects = folder / "objects"
        self._lock = lock

    def move_in(self, pack: str, objects: Path) -> None:
        """Move a pack (`pack-HASH`) and its index into the object folder of the repository.

        A `.keep` file goes first: it keeps a concurrent `git gc` from removing objects that no ref
        reaches yet. It stays until `remove`. The index goes last, since git looks for that.
        Everything is synced before it gets its name. A pack that is there already is left alone.
        """
        source = self.objects / "pack"
        target = objects / "pack"
        target.mkdir(exist_ok=True)
        keep = target / f"{pack}.keep"
        if not keep.exists():
            write_whole(self.folder / _KEPT, os.fsencode(keep))
            write_whole(keep, b"dos: being taken over from a lane\n")
        if (target / f"{pack}.idx").exists():
            return
        for ending in (".pack", ".idx"):
            _sync(source / f"{pack}{ending}")
            (source / f"{pack}{ending}").rename(target / f"{pack}{ending}")
        sync_directory(target)

    def remove(self) -> None:
        """Remove the folder and the `.keep` file of what was moved in, and free the lock."""
        if self._lock < 0:
            return
        _clear(self.folder)
        _lock_path(self.folder).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1


def make(home: Path) -> Quarantine:
    """Make a new folder below `home`, for this user alone, and remove those of dead processes."""
    home.mkdir(parents=True, exist_ok=True)
    remove_abandoned(home)
    for _ in range(MOST_NAMES):
        folder = home / os.urandom(8).hex()
        lock = os.open(_lock_path(folder), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        # Between these lines another process may have taken the lock for that of a dead one.
        if lock_file(lock, gives_up=_at_once) and os.fstat(lock).st_nlink:
            (folder / "objects" / "pack").mkdir(parents=True, mode=0o700)
            return Quarantine(folder, lock)
        os.close(lock)
    raise FileExistsError(f"{home}: {MOST_NAMES} new folders were removed by other processes")


def remove_abandoned(home: Path) -> None:
    """Remove the folders of processes that have died."""
    for path in home.glob(f"*{_LOCK}"):
        try:
            lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # its process has just removed it
        try:
            if lock_file(lock, gives_up=_at_once):
                _clear(path.with_suffix(""))
                path.unlink(missing_ok=True)
        finally:
            os.close(lock)


def _clear(folder: Path) -> None:
    with suppress(FileNotFoundError):
        _release(Path(os.fsdecode((folder / _KEPT).read_bytes())))
    shutil.rmtree(folder, ignore_errors=True)


def _release(keep: Path) -> None:
    """Remove a `.keep` file, and a pack whose move was cut off before its index had its name."""
    if not keep.with_suffix(".idx").exists():
        keep.with_suffix(".pack").unlink(missing_ok=True)
    keep.unlink(missing_ok=True)


def _lock_path(folder: Path) -> Path:
    return folder.with_name(folder.name + _LOCK)


def _at_once() -> bool:
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
