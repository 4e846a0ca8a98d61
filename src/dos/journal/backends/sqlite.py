"""The embedded store: one SQLite file, shared by every process and worktree of one machine.

Writers queue at a kernel lock beside the file, so that nobody starves and no checkpoint meets another; the kernel
frees it, as SQLite's own locks, when a process dies.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from msgspec import json, structs

from dos.errors import (
    Internal,
    JournalCorrupt,
    JournalTooNew,
    StoreBusy,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from dos.journal.backends.sqlite_schema import APPLICATION_ID, STEPS, VERSION
from dos.journal.clock import Clock, SystemClock
from dos.journal.events import Event
from dos.journal.store import NOTHING, Entry, Foreseen
from dos.journal.syncing import sync_directory
from dos.records.leases import Lease
from dos.records.names import folded
from dos.records.regions import Mode

_COLUMNS = "pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, crc"
_lease = json.Decoder(Lease)


class SqliteBackend:
    def __init__(
        self, path: Path, *, clock: Clock | None = None, read_only: bool = False, busy_seconds: float = 30.0
    ) -> None:
        self.path = path
        self._clock = clock or SystemClock()
        self._read_only = read_only
        self._busy_seconds = busy_seconds
        self._pid = os.getpid()
        self._threads = threading.RLock()
        self._gate_file: int | None = None
        self._connection: sqlite3.Connection | None = None
        with self._explained():
            self._connect()

    @contextmanager
    def read(self) -> Iterator["Transaction"]:
        with self._threads, self._explained():
            connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield Transaction(connection, self._clock)
            finally:
                self._roll_back()

    @contextmanager
    def write(self, foreseen: Foreseen = NOTHING) -> Iterator["Transaction"]:
        with self._threads, self._explained(), self._gate():
            connection = self._connect()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(connection, self._clock)
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def wait(self, after: int, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        seen: int | None = None
        while True:
            with self._threads, self._explained():
                version = self._connect().execute("PRAGMA data_version").fetchone()[0]
            if version != seen:
                seen = version
                with self.read() as tx:
                    if tx.last() > after:
                        return True
            if (left := deadline - time.monotonic()) <= 0:
                return False
            time.sleep(min(0.02, left))

    def integrity(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        with self._threads, self._explained():
            return [found for (found,) in self._connect().execute("PRAGMA integrity_check") if found != "ok"]

    def close(self) -> None:
        """Closing may checkpoint, so it queues as a writer does."""
        with self._threads, self._explained():
            if self._connection is not None and self._pid == os.getpid():
                if self._read_only:
                    self._connection.close()
                else:
                    with self._gate():
                        self._connection.close()
            self._connection = None
            if self._gate_file is not None:
                os.close(self._gate_file)
                self._gate_file = None

    # Opening

    def _connect(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            raise Internal("a store was carried over a fork", hint="Open the store in the process that uses it.")
        if self._connection is None:
            self._connection = self._open_reading() if self._read_only else self._open_writing()
        return self._connection

    def _open_reading(self) -> sqlite3.Connection:
        # Quoted by hand: `?` and `#` would end the path of a file URI.
        quoted = str(self.path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = self._plain(f"file:{quoted}?mode=ro")
        try:
            self._check_version(connection)
        except sqlite3.OperationalError:
            # A journal nobody has open, in a directory we cannot write: without its shared memory file it can only be
            # read as it lies on the disk.
            connection.close()
            if self.path.with_name(self.path.name + "-wal").exists():
                raise
            connection = self._plain(f"file:{quoted}?mode=ro&immutable=1")
            self._check_version(connection)
        return connection

    def _open_writing(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = not self.path.exists()
        connection = self._plain(str(self.path))
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = 1")  # macOS: a plain fsync does not reach the platter
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        if (
            self._check_version(connection) < VERSION
            or connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
        ):
            with self._gate():
                self._migrate(connection)
        if fresh:
            sync_directory(self.path.parent)
        return connection

    def _plain(self, target: str) -> sqlite3.Connection:
        return sqlite3.connect(
            target,
            isolation_level=None,
            timeout=self._busy_seconds,
            check_same_thread=False,
            uri=target.startswith("file:"),
            cached_statements=64,
        )

    def _check_version(self, connection: sqlite3.Connection) -> int:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if tables and owner != APPLICATION_ID:
            raise StoreFailed(
                f"{self.path} is a database of another program", hint="Move it away, or set `[store] url` in dos.toml."
            )
        if version > VERSION:
            raise JournalTooNew(
                f"{self.path} has schema {version}, and this dos knows up to {VERSION}",
                hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
            )
        return version

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        while (version := self._check_version(connection)) < VERSION:
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

    # Locking and faults

    @contextmanager
    def _gate(self) -> Iterator[None]:
        import fcntl

        if self._gate_file is None:
            gate = self.path.with_name(self.path.name + "-gate")
            self._gate_file = os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        deadline = time.monotonic() + self._busy_seconds
        pause = 0.0002
        # Tried again and again instead of waited for: a writer stopped inside must end in an error, not a hang.
        while True:
            try:
                fcntl.flock(self._gate_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StoreBusy(
                        f"another process has held the write lock of {self.path} for {self._busy_seconds:g} s",
                        hint="Look for a stopped `dos` process; `dos doctor` lists them.",
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.003)
        try:
            yield
        finally:
            fcntl.flock(self._gate_file, fcntl.LOCK_UN)

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):  # the fault that brought us here is the one to report
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what SQLite and the file system raise into errors that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            self._forget_connection()
            raise _explain(error, self.path) from error
        except OSError as error:
            raise StoreUnreachable(f"{self.path}: {error.strerror or error}", hint=_LOOK) from error

    def _forget_connection(self) -> None:
        # After an I/O error a connection's picture of the file may be wrong: the next use opens anew.
        if self._connection is not None and not self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


class Transaction:
    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._sql = connection.execute
        self._sql_many = connection.executemany
        self._clock = clock

    def wall_ms(self) -> int:
        return self._clock.wall_ms()

    def lease_ms(self) -> int:
        return self._clock.lease_ms()

    def boot(self) -> str:
        return self._clock.boot()

    def last(self) -> int:
        return int(self._sql("SELECT coalesce(max(pos), 0) FROM event").fetchone()[0])

    def head(self, stream: str) -> int:
        return int(self._sql("SELECT coalesce(max(ver), 0) FROM event WHERE stream = ?", (stream,)).fetchone()[0])

    def fence_floor(self, stream: str) -> int:
        row = self._sql("SELECT coalesce(max(fence), 0) FROM event WHERE stream = ? AND fence IS NOT NULL", (stream,))
        return int(row.fetchone()[0])

    def keyed(self, stream: str, key: str) -> Event | None:
        row = self._sql(f"SELECT {_COLUMNS} FROM event WHERE stream = ? AND key = ?", (stream, key)).fetchone()
        return _event(row) if row else None

    def load(self, stream: str, after: int, limit: int | None) -> list[Event]:
        rows = self._sql(
            f"SELECT {_COLUMNS} FROM event WHERE stream = ? AND ver > ? ORDER BY ver LIMIT ?",
            (stream, after, -1 if limit is None else limit),
        )
        return [_event(row) for row in rows]

    def tail(self, after: int, limit: int) -> list[Event]:
        rows = self._sql(f"SELECT {_COLUMNS} FROM event WHERE pos > ? ORDER BY pos LIMIT ?", (after, limit))
        return [_event(row) for row in rows]

    def raw(self, after: int, limit: int) -> list[tuple[Event, int]]:
        # Not `pos > after`: to find that, SQLite looks for `after` itself, on a page that may be damaged.
        rows = self._sql(f"SELECT {_COLUMNS} FROM event WHERE pos >= ? ORDER BY pos LIMIT ?", (after + 1, limit))
        return [_unverified(row) for row in rows]

    def count(self, after: int) -> int:
        return int(self._sql("SELECT count(*) FROM event WHERE pos > ?", (after,)).fetchone()[0])

    def streams(self, prefix: str) -> list[str]:
        ends = (prefix, prefix + "\U0010ffff")
        rows = self._sql("SELECT DISTINCT stream FROM event WHERE stream BETWEEN ? AND ? ORDER BY stream", ends)
        return [stream for (stream,) in rows]

    def leases(self) -> list[Lease]:
        return [_lease.decode(body) for (body,) in self._sql("SELECT body FROM lease ORDER BY fence")]

    def lease(self, fence: int) -> Lease | None:
        row = self._sql("SELECT body FROM lease WHERE fence = ?", (fence,)).fetchone()
        return _lease.decode(row[0]) if row else None

    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None:
        row = self._sql("SELECT pos, state, crc FROM snapshot WHERE name = ? AND code = ?", (name, code)).fetchone()
        # A damaged snapshot is no loss: the events it was made from are still there.
        return (row[0], row[1]) if row and crc32(row[1]) == row[2] else None

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event:
        event = Event(
            pos=0, stream=entry.stream, ver=ver, kind=entry.kind, actor=actor,
            at_ms=self.wall_ms() if entry.at_ms is None else entry.at_ms,
            fence=entry.fence, key=entry.key, schema=entry.schema, raw=raw,
        )  # fmt: skip
        values = (event.stream, ver, event.kind, event.at_ms, actor, event.fence, event.key, event.schema, raw)
        row = self._sql(
            "INSERT INTO event(stream, ver, kind, at_ms, actor, fence, key, schema, body, crc)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING pos",
            (*values, event.checksum()),
        ).fetchone()
        return structs.replace(event, pos=row[0])

    def add_lease(self, lease: Lease) -> None:
        shared = lease.mode is Mode.SHARED
        self._sql(
            "INSERT INTO lease(fence, lane, is_lock, shared, exclusive, body) VALUES(?, ?, ?, ?, ?, ?)",
            (lease.fence, folded(lease.lane), lease.is_lock, shared, lease.exclusive, json.encode(lease)),
        )
        self._sql_many(
            "INSERT INTO lease_path(fence, path, shared) VALUES(?, ?, ?)",
            [(lease.fence, prefix, shared) for prefix in lease.region.prefixes],
        )

    def update_lease(self, lease: Lease) -> None:
        self._sql("UPDATE lease SET body = ? WHERE fence = ?", (json.encode(lease), lease.fence))

    def drop_lease(self, fence: int) -> None:
        self._sql("DELETE FROM lease WHERE fence = ?", (fence,))

    def keep_snapshot(self, name: str, code: str, pos: int, state: bytes) -> None:
        self._sql("INSERT OR REPLACE INTO snapshot VALUES(?, ?, ?, ?, ?)", (name, code, pos, state, crc32(state)))

    def delete(self, positions: Sequence[int]) -> None:
        self._sql_many("DELETE FROM event WHERE pos = ?", [(pos,) for pos in positions])


_LOOK = "Run `dos doctor` to see what is wrong with the state directory."


def _event(row: tuple[Any, ...]) -> Event:
    event, crc = _unverified(row)
    try:
        return event.verified(crc)
    except TypeError as error:  # a damaged row may hold a value of another type
        raise JournalCorrupt(f"event {event.pos} is not what was written", hint="Run `dos journal check`.") from error


def _unverified(row: tuple[Any, ...]) -> tuple[Event, int]:
    pos, stream, ver, kind, at_ms, actor, fence, key, schema, body, crc = row
    return Event(
        pos=pos, stream=stream, ver=ver, kind=kind, at_ms=at_ms, actor=actor,
        fence=fence, key=key, schema=schema, raw=body,
    ), crc  # fmt: skip


def _explain(error: sqlite3.Error, path: Path) -> Exception:
    code = getattr(error, "sqlite_errorcode", None) or 0
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"{path}: no room is left on the disk", hint="Free some space; nothing was lost.")
        case sqlite3.SQLITE_READONLY:
            return StoreReadOnly(f"{path} cannot be written: {error}", hint="Give this user the right to write there.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path} is locked by another program", hint="Try again; `dos doctor` shows who is there.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return JournalCorrupt(f"{path} is damaged: {error}", hint="Run `dos journal check` to see the damage.")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreUnreachable(f"{path} cannot be opened: {error}", hint=_LOOK)
        case sqlite3.SQLITE_IOERR:
            return StoreFailed(f"{path}: reading or writing the disk failed: {error}", hint=_LOOK)
        case sqlite3.SQLITE_CONSTRAINT:
            return Internal(f"{path}: the store refused a write that the rules had allowed: {error}")
    return StoreFailed(f"{path}: {error}", hint=_LOOK)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would commit the transaction around them."""
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
