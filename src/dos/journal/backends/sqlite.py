"""The embedded backend: one SQLite file, shared by every process and worktree of one machine.

Writers queue at a kernel lock beside the file, so that none starves and no checkpoint meets
another. The kernel frees it, like SQLite's own locks, when a process dies.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from msgspec import json, structs

from dos.errors import Internal, OutcomeUnknown, StoreBusy, StoreReadOnly, StoreUnreachable
from dos.journal.backend import (
    COLUMNS,
    NO_PREFETCH,
    Entry,
    Prefetch,
    decode_event,
    decode_lease,
    decode_unverified,
)
from dos.journal.backends import sqlite_open
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.machine import filesystem
from dos.regions import Mode
from dos.text import comparison_key
from dos.times import Clock, SystemClock, exponential_backoff

_WAIT_SECONDS = 0.02  # between two looks for a new event
_GATE_PAUSES = exponential_backoff(0.0002, cap=0.003, factor=1.5)  # in seconds


class SqliteBackend:
    """Keeps a journal in a SQLite file. One transaction at a time is open in this process.

    `busy_seconds` is how long a writer waits for its turn. The file is watched: one that was
    removed or replaced would accept writes and keep nothing.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        busy_seconds: float = 30.0,
    ) -> None:
        self.path = path
        self._clock = clock or SystemClock()
        self._read_only = read_only
        self._busy_seconds = busy_seconds
        self._pid = os.getpid()
        self._threads = threading.RLock()
        self._gate_file: int | None = None
        self._connection: sqlite3.Connection | None = None
        self._lasting = True
        self._name = str(path)
        self._file: tuple[int, int] | None = None
        self._log = f"{path}-wal"
        self._has_log = False
        self._commits = 0
        with self._explained():
            self._connect()

    @contextmanager
    def read(self, *, once: bool = False) -> Iterator["Transaction"]:  # noqa: ARG002
        with self._alone(), self._explained():
            connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield Transaction(connection, self._clock)
            finally:
                self._roll_back()
                if not self._lasting:
                    self._forget_connection()

    @contextmanager
    def write(
        self,
        prefetch: Prefetch = NO_PREFETCH,  # noqa: ARG002
    ) -> Iterator["Transaction"]:
        if self._read_only:
            raise StoreReadOnly(f"{self.path} was opened for reading only")
        with self._alone(), self._explained():
            connection = self._connect()
            with self._gate():
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield Transaction(connection, self._clock)
                    self._commit(connection)
                    self._commits += 1
                except BaseException:
                    self._roll_back()
                    raise
            self._check_still_there()
            self._check_log_still_there()

    def wait(self, after: int, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        before: tuple[sqlite3.Connection, int, int] | None = None
        while True:
            with self._alone(), self._explained():
                # SQLite's version counts the commits of other connections, as this one saw them.
                connection = self._connect()
                version = connection.execute("PRAGMA data_version").fetchone()[0]
                now = (connection, version, self._commits)
            if now != before:
                before = now
                with self.read() as tx:
                    if tx.last() > after:
                        return True
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            time.sleep(min(_WAIT_SECONDS, remaining))

    def integrity(self) -> list[str]:
        """Return what SQLite itself finds wrong with the file."""
        with self._alone(), self._explained():
            rows = self._connect().execute("PRAGMA integrity_check").fetchall()
        return [message for (message,) in rows if message != "ok"]

    def close(self) -> None:
        """Close the connection.

        Closing may checkpoint, so it queues like a writer. What was acknowledged is safe without.
        """
        if self._pid != os.getpid():
            return  # the connection is the parent process's
        with self._threads:
            if self._connection is not None and not self._read_only:
                with suppress(OSError, StoreBusy), self._gate():
                    self._forget_connection()
            self._forget_connection()
            if self._gate_file is not None:
                os.close(self._gate_file)
                self._gate_file = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        # Checked first: a child shares the parent's lock, and would unlock it for the parent.
        if self._pid != os.getpid():
            raise Internal(
                "a store was carried over a fork",
                hint="Open the store in the process that uses it.",
            )
        with self._threads:
            yield

    def _connect(self) -> sqlite3.Connection:
        self._check_still_there()
        if self._connection is None:
            if self._read_only:
                self._connection, self._lasting = sqlite_open.open_reading(
                    self.path, busy_seconds=self._busy_seconds, gate=self._gate
                )
            else:
                self._connection = sqlite_open.open_writing(
                    self.path, busy_seconds=self._busy_seconds, gate=self._gate
                )
            self._file = self._file or _identity(self._name)
            self._has_log = os.access(self._log, os.F_OK)
        return self._connection

    def _check_still_there(self) -> None:
        """Raise if the file was removed or replaced: writes to it would be lost."""
        if self._file and _identity(self._name) != self._file:
            raise _removed(self._name)

    def _check_log_still_there(self) -> None:
        # Only whether it exists: reading its times would make the next write to it slower.
        if self._has_log and not os.access(self._log, os.F_OK):
            raise _removed(self._log)

    # Locking and faults

    @contextmanager
    def _gate(self) -> Iterator[None]:
        import fcntl

        if self._gate_file is None:
            gate = self.path.with_name(self.path.name + "-gate")
            self._gate_file = os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not filesystem.lock_file(
            self._gate_file,
            gives_up=filesystem.gives_up_after(self._busy_seconds),
            pauses=_GATE_PAUSES,
        ):
            raise StoreBusy(
                f"another process has held the write lock of {self.path}"
                f" for {self._busy_seconds:g} s",
                hint="Look for a stopped `dos` process; `dos doctor` lists them.",
            )
        try:
            yield
        finally:
            fcntl.flock(self._gate_file, fcntl.LOCK_UN)

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if sqlite_open.primary_code(error) != sqlite3.SQLITE_IOERR:
                raise
            # It is in the log, and it is unknown whether the disk has it: it may survive a crash.
            self._forget_connection()
            raise OutcomeUnknown(
                f"{self.path}: the disk failed during the commit, so it is unknown whether it was"
                f" written: {error}",
                hint="Run `dos doctor` to see what is wrong with the disk;"
                " an append with a key can be repeated.",
            ) from error

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:  # the fault that led to the rollback is the one to report
                self._forget_connection()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and the file system into errors that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            self._forget_connection()
            raise sqlite_open.explain(error, self.path) from error
        except OSError as error:
            raise sqlite_open.explain_system(error, self.path) from error

    def _forget_connection(self) -> None:
        # After an I/O error a connection's view of the file may be wrong: the next use reopens it.
        connection, self._connection = self._connection, None
        self._has_log = False  # the connection that is closed last removes it
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


class Transaction:
    """A read or write transaction; its methods are those of `WriteTransaction`."""

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
        sql = "SELECT coalesce(max(ver), 0) FROM event WHERE stream = ?"
        return int(self._sql(sql, (stream,)).fetchone()[0])

    def fence_floor(self, stream: str) -> int:
        row = self._sql(
            "SELECT coalesce(max(fence), 0) FROM event WHERE stream = ? AND fence IS NOT NULL",
            (stream,),
        )
        return int(row.fetchone()[0])

    def keyed(self, stream: str, key: str) -> Event | None:
        row = self._sql(
            f"SELECT {COLUMNS} FROM event WHERE stream = ? AND key = ?", (stream, key)
        ).fetchone()
        if row is None:
            return None
        return decode_event(row)

    def load(self, stream: str, after: int, limit: int | None) -> list[Event]:
        rows = self._sql(
            f"SELECT {COLUMNS} FROM event WHERE stream = ? AND ver > ? ORDER BY ver LIMIT ?",
            (stream, after, -1 if limit is None else limit),
        )
        return [decode_event(row) for row in rows]

    def tail(self, after: int, limit: int) -> list[Event]:
        rows = self._sql(
            f"SELECT {COLUMNS} FROM event WHERE pos > ? ORDER BY pos LIMIT ?", (after, limit)
        )
        return [decode_event(row) for row in rows]

    def raw(self, after: int, limit: int) -> list[tuple[Event, int]]:
        # Not `pos > after`: for that SQLite reads `after` itself, on a page that may be damaged.
        rows = self._sql(
            f"SELECT {COLUMNS} FROM event WHERE pos >= ? ORDER BY pos LIMIT ?",
            (after + 1, limit),
        )
        return [decode_unverified(row) for row in rows]

    def count(self, after: int) -> int:
        return int(self._sql("SELECT count(*) FROM event WHERE pos > ?", (after,)).fetchone()[0])

    def streams(self, prefix: str) -> list[str]:
        ends = (prefix, prefix + "\U0010ffff")
        rows = self._sql(
            "SELECT DISTINCT stream FROM event WHERE stream BETWEEN ? AND ? ORDER BY stream", ends
        )
        return [stream for (stream,) in rows]

    def leases(self) -> list[Lease]:
        return [
            decode_lease(*row) for row in self._sql("SELECT fence, body FROM lease ORDER BY fence")
        ]

    def lease(self, fence: int) -> Lease | None:
        row = self._sql("SELECT fence, body FROM lease WHERE fence = ?", (fence,)).fetchone()
        if row is None:
            return None
        return decode_lease(*row)

    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None:
        row = self._sql(
            "SELECT pos, state, crc FROM snapshot WHERE name = ? AND code = ?", (name, code)
        ).fetchone()
        if row is None:
            return None
        pos, state, checksum = row
        # A damaged snapshot is no loss: the events that it was made from are still there.
        if crc32(state) != checksum:
            return None
        return pos, state

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event:
        event = Event(
            pos=0, stream=entry.stream, ver=ver, kind=entry.kind, actor=actor,
            at_ms=self.wall_ms() if entry.at_ms is None else entry.at_ms,
            fence=entry.fence, key=entry.key, schema=entry.schema, raw=raw,
        )  # fmt: skip
        values = (
            event.stream, ver, event.kind, event.at_ms, actor,
            event.fence, event.key, event.schema, raw,
        )  # fmt: skip
        row = self._sql(
            "INSERT INTO event(stream, ver, kind, at_ms, actor, fence, key, schema, body, crc)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING pos",
            (*values, event.checksum()),
        ).fetchone()
        return structs.replace(event, pos=row[0])

    def add_lease(self, lease: Lease) -> None:
        shared = lease.mode is Mode.SHARED
        lane = comparison_key(lease.lane)
        self._sql(
            "INSERT INTO lease(fence, lane, is_lock, shared, exclusive, body)"
            " VALUES(?, ?, ?, ?, ?, ?)",
            (lease.fence, lane, lease.is_lock, shared, lease.exclusive, json.encode(lease)),
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
        self._sql(
            "INSERT OR REPLACE INTO snapshot VALUES(?, ?, ?, ?, ?)",
            (name, code, pos, state, crc32(state)),
        )

    def delete(self, positions: Sequence[int]) -> None:
        self._sql_many("DELETE FROM event WHERE pos = ?", [(pos,) for pos in positions])


def _identity(name: str) -> tuple[int, int] | None:
    try:
        status = os.stat(name)  # noqa: PTH116 - a Path is slower, and this runs on each use
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _removed(name: str) -> StoreUnreachable:
    return StoreUnreachable(
        f"{name} was removed or replaced while it was in use",
        hint="Stop this program and start it again.",
    )
