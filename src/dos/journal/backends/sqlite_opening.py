"""Opens the file of the embedded store: made where there is none, brought up to date, and sure to survive a power cut."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from dos.errors import JournalTooNew, StoreFailed
from dos.journal.backends.sqlite_faults import primary_code
from dos.journal.backends.sqlite_schema import APPLICATION_ID, STEPS, VERSION
from dos.journal.syncing import sync_directory

Gate = Callable[[], AbstractContextManager[None]]


def open_writing(path: Path, *, busy_seconds: float, gate: Gate) -> sqlite3.Connection:
    _make_directory(path.parent)
    # Opened before SQLite makes its files: so it is told of a failed sync of theirs too, which SQLite passes over.
    directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        connection = _connect(str(path), busy_seconds)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = 1")  # macOS: a plain fsync does not reach the platter
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            if _version(connection, path) < VERSION or _journal_mode(connection) != "wal":
                with gate():
                    _migrate(connection, path)
            # The file and its log have their names for good before anything is acknowledged. Also when another made
            # them: it may have been killed before it came this far.
            os.fsync(directory)
        except BaseException:
            connection.close()
            raise
    finally:
        os.close(directory)
    return connection


def open_reading(path: Path, *, busy_seconds: float, gate: Gate) -> tuple[sqlite3.Connection, bool]:
    """Also says whether it can be kept: what was opened as immutable must be opened anew for each look."""
    # Quoted by hand: `?` and `#` would end the path of a file URI.
    quoted = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = _connect(f"file:{quoted}?mode=ro", busy_seconds)
    try:
        version = _version(connection, path)
    except sqlite3.OperationalError as error:
        # A journal nobody has open, in a directory we cannot write: without its shared memory file it can only be
        # read as it lies on the disk.
        connection.close()
        refused = primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not refused or path.with_name(path.name + "-wal").exists():
            raise
        connection = _connect(f"file:{quoted}?mode=ro&immutable=1", busy_seconds)
        _version(connection, path)
        return connection, False
    if version < VERSION:
        # Its maker was cut off, or it is older than this dos: any process brings it up to date, as it recovers a log.
        connection.close()
        open_writing(path, busy_seconds=busy_seconds, gate=gate).close()
        connection = _connect(f"file:{quoted}?mode=ro", busy_seconds)
    return connection, True


def _connect(target: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        target,
        isolation_level=None,
        timeout=busy_seconds,
        check_same_thread=False,
        uri=target.startswith("file:"),
        cached_statements=64,
    )


def _make_directory(directory: Path) -> None:
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_directory(made.parent)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables and owner != APPLICATION_ID:
        raise StoreFailed(
            f"{path} is a database of another program", hint="Move it away, or set `[store] url` in dos.toml."
        )
    if version > VERSION:
        raise JournalTooNew(
            f"{path} has schema {version}, and this dos knows up to {VERSION}",
            hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
        )
    return version


def _journal_mode(connection: sqlite3.Connection, wanted: str = "") -> str:
    return str(connection.execute(f"PRAGMA journal_mode{wanted}").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    # It can fail without an error, and then the file goes on in a mode in which it was seen to lose events.
    if (mode := _journal_mode(connection, " = WAL")) != "wal":
        raise StoreFailed(
            f"{path} cannot keep a write-ahead log and stays in mode {mode!r}, in which a power cut could lose events",
            hint="Keep the state on a healthy local disk; `dos doctor` looks at it.",
        )
    while (version := _version(connection, path)) < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in _statements(STEPS[version]):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would commit the transaction around them."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
