"""Opens the file of the embedded backend, and explains the errors of SQLite and the file system.

A missing file is created and an older one brought up to date, so that both survive a power cut.
"""

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from dos.errors import (
    DosError,
    Internal,
    JournalCorrupt,
    JournalTooNew,
    StoreBusy,
    StoreFailed,
    StoreForeign,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from dos.machine.filesystem import sync_directory

_LOOK = "Run `dos doctor` to see what is wrong with the state directory."
_ROOM = "Free some space; nothing was lost."
_RIGHTS = "Give this user the right to write there."


def explain(error: sqlite3.Error, path: Path) -> DosError:  # noqa: C901, PLR0911
    """Return the error of dos that an error of SQLite stands for, with what to do."""
    code = primary_code(error)
    if not code and "decode to UTF-8" in str(error):
        return JournalCorrupt(
            f"{path} is damaged: {error}", hint="Run `dos journal check` to see the damage."
        )
    match code:
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"{path}: no space is left on the disk", hint=_ROOM)
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
        # SQLite does not say why one of its files could not be created or grown.
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if _is_full(path.parent):
            return StoreFull(f"{path}: no space is left on the disk", hint=_ROOM)
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
    """Return the error of dos that an error of the file system stands for, with what to do."""
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
    """Return SQLite's primary result code; 0 for an error of Python's module."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _is_full(directory: Path) -> bool:
    """Whether the file system has no room for data, or for another file."""
    try:
        disk = os.statvfs(directory)
    except OSError:
        return False
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)


def _is_read_only(path: Path) -> bool:
    """Whether the file or its directory cannot be written: SQLite keeps its log beside the file."""
    return any(place.exists() and not os.access(place, os.W_OK) for place in (path, path.parent))


# Step n takes a file from version n - 1 to n. Steps are never edited after a release.
STEPS: tuple[str, ...] = (
    """
    CREATE TABLE event(
      pos INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused, also after old events were removed
      stream TEXT NOT NULL, ver INTEGER NOT NULL, kind TEXT NOT NULL, at_ms INTEGER NOT NULL, actor TEXT NOT NULL,
      fence INTEGER, key TEXT, schema INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL,
      UNIQUE(stream, ver));
    CREATE UNIQUE INDEX event_key ON event(stream, key) WHERE key IS NOT NULL;
    CREATE TRIGGER event_immutable BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'IMMUTABLE'); END;

    CREATE TABLE lease(
      fence INTEGER PRIMARY KEY, lane TEXT NOT NULL, is_lock INTEGER NOT NULL, shared INTEGER NOT NULL,
      exclusive INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE UNIQUE INDEX lease_writer ON lease(is_lock, lane) WHERE NOT shared;
    CREATE TRIGGER lease_alone BEFORE INSERT ON lease WHEN NOT NEW.is_lock AND EXISTS(
      SELECT 1 FROM lease WHERE NOT is_lock AND (exclusive OR NEW.exclusive))
      BEGIN SELECT RAISE(ABORT, 'EXCLUSIVE'); END;

    CREATE TABLE lease_path(
      fence INTEGER NOT NULL REFERENCES lease(fence) ON DELETE CASCADE, path TEXT NOT NULL, shared INTEGER NOT NULL,
      PRIMARY KEY(path, fence)) WITHOUT ROWID;
    CREATE INDEX lease_path_fence ON lease_path(fence);
    CREATE TRIGGER lease_disjoint BEFORE INSERT ON lease_path WHEN EXISTS(
      SELECT 1 FROM lease_path p WHERE p.fence <> NEW.fence AND NOT (p.shared AND NEW.shared)
      AND (substr(p.path, 1, length(NEW.path)) = NEW.path OR substr(NEW.path, 1, length(p.path)) = p.path))
      BEGIN SELECT RAISE(ABORT, 'OVERLAP'); END;
    """,
    """
    CREATE INDEX event_fence ON event(stream, fence) WHERE fence IS NOT NULL;
    CREATE TABLE snapshot(
      name TEXT PRIMARY KEY, code TEXT NOT NULL, pos INTEGER NOT NULL, state BLOB NOT NULL, crc INTEGER NOT NULL);
    """,
)
VERSION = len(STEPS)
APPLICATION_ID = 0x646F7331  # "dos1": another program's database is refused, not overwritten


Gate = Callable[[], AbstractContextManager[None]]


def open_writing(path: Path, *, busy_seconds: float, gate: Gate) -> sqlite3.Connection:
    """Open a file for reading and writing; it is created or brought up to date under the gate."""
    _make_directory(path.parent)
    _check_place(path)
    # Opened before SQLite creates its files, so that a failed sync of theirs is reported here too:
    # SQLite ignores it.
    directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _connecting(str(path), busy_seconds) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = 1")  # macOS: fsync alone does not reach the disk
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            if _version(connection, path) < VERSION or _journal_mode(connection) != "wal":
                with gate():
                    _migrate(connection, path)
            # The names of the file and its log are durable before anything is acknowledged. Also
            # when another process created them: it may have been killed before it came this far.
            os.fsync(directory)
            return connection
    finally:
        os.close(directory)


def open_reading(path: Path, *, busy_seconds: float, gate: Gate) -> tuple[sqlite3.Connection, bool]:
    """Open a file for reading, and return whether the connection can be kept.

    One that was opened as immutable does not see later writes, so it is opened for each read.
    """
    _check_place(path)
    # Quoted by hand: `?` and `#` would end the path of a file URI.
    quoted = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    plain, immutable = f"file:{quoted}?mode=ro", f"file:{quoted}?mode=ro&immutable=1"
    try:
        if connection := _up_to_date(plain, busy_seconds, path):
            return connection, True
    except sqlite3.OperationalError as error:
        # A journal that no process has open, in a directory that cannot be written: without its
        # shared memory file it can only be read as it is on the disk.
        if _is_out_of_reach(error, path) and (
            connection := _up_to_date(immutable, busy_seconds, path)
        ):
            return connection, False
        if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
    # It was not finished, or is older than this dos: any process brings it up to date.
    open_writing(path, busy_seconds=busy_seconds, gate=gate).close()
    with _connecting(plain, busy_seconds) as connection:
        _version(connection, path)
        return connection, True


def _up_to_date(target: str, busy_seconds: float, path: Path) -> sqlite3.Connection | None:
    """Return a connection to a file with the newest tables.

    None: the file has to be brought up to date first.
    """
    with _connecting(target, busy_seconds) as connection:
        if _version(connection, path) == VERSION:
            return connection
    connection.close()
    return None


def _is_out_of_reach(error: sqlite3.Error, path: Path) -> bool:
    """Whether SQLite could not create its files, and there is no log that would be missed."""
    if primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return False
    logs = [path.with_name(path.name + ending) for ending in ("-wal", "-journal")]
    return not any(log.exists() for log in logs)


@contextmanager
def _connecting(target: str, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    """Open a connection that stays open unless the block fails."""
    connection = sqlite3.connect(
        target,
        isolation_level=None,
        timeout=busy_seconds,
        check_same_thread=False,
        uri=target.startswith("file:"),
        cached_statements=64,
    )
    try:
        yield connection
    except BaseException:
        # Whatever ended the block, also Ctrl-C: an open connection holds locks. The exception is
        # raised again.
        connection.close()
        raise


def _make_directory(directory: Path) -> None:
    """Create a directory and those above it, and make their names survive a power cut."""
    if directory.is_dir():
        return
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for created in missing:
        sync_directory(created.parent)


def _check_place(path: Path) -> None:
    """Raise StoreUnreachable for a directory in the file's place, JournalCorrupt for a lone log.

    A log without its file holds committed events, and SQLite would delete it when it opens the
    file.
    """
    log = path.with_name(path.name + "-wal")
    try:
        # Checked first: a file that is being created has no log before it has a page.
        orphaned = log.stat().st_size > 0
    except FileNotFoundError:
        orphaned = False
    try:
        status = path.stat()
    except FileNotFoundError:
        status = None
    if status and stat.S_ISDIR(status.st_mode):
        raise StoreUnreachable(
            f"{path} is a directory",
            hint="Move it away, or name another place with `[store] url` in dos.toml.",
        )
    if orphaned and not (status and status.st_size):
        # SQLite would start an empty file and remove the log.
        raise JournalCorrupt(
            f"{path} is {'empty' if status else 'missing'}, and its log {log.name} is not",
            hint="Restore the file from a backup, or move the log away to start a new journal.",
        )


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables; 0 for a new file.

    Raises StoreForeign for the database of another program, and JournalTooNew.
    """
    # One statement, for one moment: another process may be creating the tables right now.
    version, owner, tables = connection.execute(
        "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_user_version, pragma_application_id"
    ).fetchone()
    if tables and owner != APPLICATION_ID:
        raise StoreForeign(
            f"{path} is a database of another program",
            hint="Move it away, or set `[store] url` in dos.toml.",
        )
    if version > VERSION:
        raise JournalTooNew(
            f"{path} has schema {version}, and this dos knows up to {VERSION}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    return int(version)


def _journal_mode(connection: sqlite3.Connection, wanted: str = "") -> str:
    """Return SQLite's journal mode, after setting it where `wanted` is ` = MODE`."""
    return str(connection.execute(f"PRAGMA journal_mode{wanted}").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Switch to a write-ahead log, and bring the tables up to date one version at a time."""
    # It can fail without an error, and then the file stays in a mode that can lose events.
    if (mode := _journal_mode(connection, " = WAL")) != "wal":
        raise StoreFailed(
            f"{path} cannot keep a write-ahead log and stays in mode {mode!r}, in which a power cut"
            " could lose events",
            hint="Keep the state on a healthy local disk; `dos doctor` looks at it.",
        )
    while (version := _version(connection, path)) < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _statements(STEPS[version]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script: `executescript` would commit the open transaction."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
