"""The embedded backend: one SQLite file, shared by every process and worktree of one machine.

Writers queue at a kernel lock beside the file, so that none starves and no checkpoint meets
another. The kernel frees it, like SQLite's own locks, when a process dies.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dos.errors import Internal, OutcomeUnknown, StoreBusy, StoreReadOnly, StoreUnreachable
from dos.journal.backend import NO_PREFETCH, Prefetch
from dos.journal.backends import sqlite_open
from dos.journal.backends.sqlite_transaction import Transaction
from dos.machine import filesystem
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
        """Open the file at once, so that one that cannot be used is reported here.

        Without `read_only` the file and its directory are created.
        """
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
    def read(self, *, once: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        """Open a view. It sees the journal as of its first question, and blocks no writer."""
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
    ) -> Iterator[Transaction]:
        """Open a transaction, committed at the end of the block or rolled back.

        Raises StoreReadOnly for a store that was opened for reading, StoreBusy when other writers
        keep the lock too long, and OutcomeUnknown when the disk fails during the commit. A file
        that was removed meanwhile raises StoreUnreachable, although SQLite reports success.
        """
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
                    # Whatever ended the block, also Ctrl-C: an open transaction would block every
                    # other writer. The exception is raised again.
                    self._roll_back()
                    raise
            self._check_still_there()
            self._check_log_still_there()

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Wait for an event above `after`; False when the time is over.

        SQLite sends no notifications, so its change counter is polled. Events are read only when it
        has moved.
        """
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
        """Keep other threads of this process out. Raises Internal in a child process."""
        # Checked first: a child shares the parent's lock, and would unlock it for the parent.
        if self._pid != os.getpid():
            raise Internal(
                "a store was used in a child process that did not open it",
                hint="Open the store in the process that uses it.",
            )
        with self._threads:
            yield

    def _connect(self) -> sqlite3.Connection:
        """Return the connection, opening one if there is none. Raises if the file was removed."""
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
        """Raise if the write-ahead log was removed: commits that are only there would be lost."""
        # Only whether it exists: reading its times would make the next write to it slower.
        if self._has_log and not os.access(self._log, os.F_OK):
            raise _removed(self._log)

    # Locking and faults

    @contextmanager
    def _gate(self) -> Iterator[None]:
        """Hold the lock that writers queue at. Raises StoreBusy when the wait takes too long."""
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
        """Commit.

        Raises OutcomeUnknown when the disk fails, because the commit may still survive.
        """
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
        """Undo the open transaction, if there is one.

        A failure drops the connection, which undoes it too.
        """
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
        """Close the connection; the next use opens another."""
        # After an I/O error a connection's view of the file may be wrong: the next use reopens it.
        connection, self._connection = self._connection, None
        self._has_log = False  # the connection that is closed last removes it
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


def _identity(name: str) -> tuple[int, int] | None:
    """Return what tells a file from another of the same name; None if there is none."""
    try:
        status = os.stat(name)  # noqa: PTH116 - a Path is slower, and this runs on each use
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _removed(name: str) -> StoreUnreachable:
    """Return the error for a file that is no longer the one that was opened."""
    return StoreUnreachable(
        f"{name} was removed or replaced while it was in use",
        hint="Stop this program and start it again.",
    )
