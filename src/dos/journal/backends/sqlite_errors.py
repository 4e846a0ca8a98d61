"""What SQLite and the file system complain about, as errors that say what to do."""

import errno
import os
import sqlite3
from pathlib import Path

from dos.errors import (
    DosError,
    Internal,
    JournalCorrupt,
    StoreBusy,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)

_LOOK = "Run `dos doctor` to see what is wrong with the state directory."
_ROOM = "Free some space; nothing was lost."
_RIGHTS = "Give this user the right to write there."


def explain(error: sqlite3.Error, path: Path) -> DosError:
    code = primary_code(error)
    if not code and "decode to UTF-8" in str(error):
        return JournalCorrupt(
            f"{path} is damaged: {error}", hint="Run `dos journal check` to see the damage."
        )
    match code:
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"{path}: no room is left on the disk", hint=_ROOM)
        case sqlite3.SQLITE_READONLY:
            return StoreReadOnly(f"{path} cannot be written: {error}", hint=_RIGHTS)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(
                f"{path} is locked by another program",
                hint="Try again; `dos doctor` shows who is there.",
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return JournalCorrupt(
                f"{path} is damaged: {error}", hint="Run `dos journal check` to see the damage."
            )
        # SQLite does not say why a file of its own could not be made or grown.
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if _is_full(path.parent):
            return StoreFull(f"{path}: no room is left on the disk", hint=_ROOM)
        case sqlite3.SQLITE_CANTOPEN if _is_read_only(path):
            return StoreReadOnly(f"{path} cannot be written: {error}", hint=_RIGHTS)
        case sqlite3.SQLITE_CANTOPEN:
            return StoreUnreachable(f"{path} cannot be opened: {error}", hint=_LOOK)
        case sqlite3.SQLITE_IOERR:
            return StoreFailed(f"{path}: reading or writing the disk failed: {error}", hint=_LOOK)
        case sqlite3.SQLITE_CONSTRAINT:
            return Internal(
                f"{path}: the store refused a write that the rules had allowed: {error}"
            )
    return StoreFailed(f"{path}: {error}", hint=_LOOK)


def explain_system(error: OSError, path: Path) -> DosError:
    where = f"{path}: {error.strerror or error}"
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StoreFull(where, hint=_ROOM)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return StoreReadOnly(where, hint=_RIGHTS)
        case errno.EIO:
            return StoreFailed(where, hint=_LOOK)
    return StoreUnreachable(where, hint=_LOOK)


def primary_code(error: sqlite3.Error) -> int:
    """Zero where the error came from Python's side."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _is_full(directory: Path) -> bool:
    try:
        disk = os.statvfs(directory)
    except OSError:
        return False
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)


def _is_read_only(path: Path) -> bool:
    """The directory counts too: SQLite keeps its log beside the file."""
    return any(place.exists() and not os.access(place, os.W_OK) for place in (path, path.parent))
