"""The shared backend: one PostgreSQL database for many hosts and any number of workspaces.

Every decision is one transaction under the workspace's advisory lock, and the server's clock is the
only one that counts. A writer makes two round trips: one for the lock with all it has to read, and
one with all it writes.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256

from dos.errors import DriverMissing, Internal, OutcomeUnknown, StoreReadOnly
from dos.journal.backend import NO_PREFETCH, DurabilityNote, Prefetch

try:
    import psycopg
    from psycopg.pq import TransactionStatus
except ImportError as error:
    raise DriverMissing(
        f"the journal is in PostgreSQL, and its driver cannot be loaded: {error}",
        hint="pip install 'dispatch-os[postgres]'",
    ) from error

from dos.journal.backends.postgres_session import Connection, Sessions, explain
from dos.journal.backends.postgres_transaction import (
    COMMIT,
    ROLLBACK,
    WORKSPACES,
    Rows,
    Statement,
    Transaction,
    View,
)

CONNECT_SECONDS = 10
RECHECK_SECONDS = 5.0  # how late a waiter learns of an event whose notification was lost


class PostgresBackend:
    """Keeps the journal of one workspace in PostgreSQL. One transaction at a time is open here.

    A lost connection is opened again for the next transaction.
    """

    def __init__(
        self,
        url: str,
        *,
        workspace: str,
        busy_seconds: float = 30.0,
        connect_seconds: int = CONNECT_SECONDS,
        read_only: bool = False,
    ) -> None:
        """Open a session at once, so that a server that is away is reported here.

        `workspace` names the journal within the database; all clones of a repository use one name.
        """
        self.workspace = workspace
        self._read_only = read_only
        self._sessions = Sessions(url, busy_seconds=busy_seconds, connect_seconds=connect_seconds)
        self.place = self._sessions.place
        digest = sha256(f"dos journal of {workspace}".encode()).digest()
        key = int.from_bytes(digest[:8], signed=True)
        self._lock: Statement = ("SELECT pg_advisory_xact_lock(%(key)s::bigint)", {"key": key})
        self._channel = f"dos_{digest[:8].hex()}"
        self._notify: Statement = ("SELECT pg_notify(%(channel)s, '')", {"channel": self._channel})
        self._pid = os.getpid()
        self._threads = threading.RLock()
        self._in_use = False
        self._begun = False  # the server has a transaction of ours open
        self._connection: Connection | None = None
        self._listeners: list[Connection] = []
        with self._alone(), self._explained():
            self._connect()

    @contextmanager
    def read(self, *, once: bool = False) -> Iterator[View]:
        """Open a view.

        The transaction begins with the first question and is closed with the block.
        """
        with self._alone(), self._explained():
            try:
                yield View(self.workspace, self._trip, once=once)
            finally:
                self._end(COMMIT)

    @contextmanager
    def write(self, prefetch: Prefetch = NO_PREFETCH) -> Iterator[Transaction]:
        """Open a transaction under the workspace's lock; it is sent at the end of the block.

        Raises StoreReadOnly for a store that was opened for reading, StoreBusy when another writer
        keeps the lock too long, and OutcomeUnknown when the connection is lost during the commit.
        """
        if self._read_only:
            raise StoreReadOnly(f"{self.place} was opened for reading only")
        with self._alone(), self._explained():
            transaction = Transaction(self.workspace, self._trip)
            try:
                transaction.begin(self._lock, prefetch)
                yield transaction
                if transaction.changed:
                    self._commit(transaction.waiting())
            except BaseException:
                # Whatever ended the block, also Ctrl-C: the server must not keep a transaction and
                # its lock open. The exception is raised again.
                self._end(ROLLBACK)
                raise
            self._end(COMMIT)

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Wait for an event above `after`; False when the time is over.

        The server notifies at each commit. A notification can be lost with its connection, so the
        journal is looked at again every few seconds as well.
        """
        self._check_process()
        deadline = time.monotonic() + timeout_seconds
        while True:
            with self._explained():
                listener = self._listener()
            try:
                # It listens already: an event that comes after this read wakes it.
                with self.read(once=True) as view:
                    if view.last() > after:
                        return True
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                timeout = min(remaining, RECHECK_SECONDS)
                for _ in listener.notifies(timeout=timeout, stop_after=1):
                    pass
            except psycopg.OperationalError:
                listener.close()  # the next round looks whether the server is there
            finally:
                if not listener.closed:
                    self._listeners.append(listener)

    def room(self) -> tuple[int, int]:
        """Return how many sessions the server allows an ordinary user, and how many there are."""
        with self._alone(), self._explained():
            return self._sessions.room()

    def durability_notes(self) -> list[DurabilityNote]:
        """Return the server's settings by which an acknowledged event could be lost."""
        with self._alone(), self._explained():
            return self._sessions.durability_notes()

    def close(self) -> None:
        """Close all sessions with the server."""
        if self._pid != os.getpid():
            return  # the connections are the parent process's
        with self._threads:
            while self._listeners:
                self._listeners.pop().close()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # One transaction at a time

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads of this process out.

        Raises Internal for a transaction inside another.
        """
        self._check_process()
        with self._threads:
            if self._in_use:
                raise Internal("a transaction was begun inside another one of the same store")
            self._in_use = True
            try:
                yield
            finally:
                self._in_use = self._begun = False

    def _trip(self, statements: Sequence[Statement]) -> list[Rows]:
        """Send statements in one round trip and return the rows of each.

        The first trip of a transaction is repeated once on a new connection when the kept one turns
        out to be dead.
        """
        if self._begun:
            if self._connection is None:
                raise Internal("a store was closed inside a transaction")
            return _send(self._connection, statements)
        kept, connection = self._connection, self._connect()
        try:
            results = _send(connection, statements)
        except psycopg.OperationalError:
            # Nothing had begun, so it can begin again: the server was restarted, or the network
            # dropped an idle connection.
            if connection is not kept or not connection.closed:
                raise
            results = _send(self._connect(), statements)
        self._begun = True
        return results

    def _commit(self, statements: Sequence[Statement]) -> None:
        """Send the changes with the commit and wake those who wait.

        Raises OutcomeUnknown when the connection is lost before the answer: the server may have
        committed.
        """
        try:
            self._trip([*statements, self._notify, COMMIT])
        except psycopg.Error as error:
            if self._connection is None or not self._connection.closed:
                raise
            raise OutcomeUnknown(
                f"{self.place}: the connection was lost during the commit,"
                " so it is unknown whether it was written",
                hint="Read the stream again before repeating it;"
                " an append with a key can simply be repeated.",
            ) from error

    def _end(self, statement: Statement) -> None:
        """End the transaction, if there is one, by a commit or a rollback."""
        connection = self._connection
        if connection is None:
            return
        if connection.info.transaction_status in (
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        ):
            with suppress(psycopg.Error):  # the fault that led here is the one to report
                _send(connection, [statement])
        if connection.info.transaction_status != TransactionStatus.IDLE:
            # It was lost, or interrupted in the middle of a trip.
            connection.close()
            self._connection = None

    # Connections

    def _connect(self) -> Connection:
        """Return the session of this backend, opening one if there is none or it was lost."""
        if self._connection is None or self._connection.closed:
            self._connection = self._sessions.open()
        return self._connection

    def _listener(self) -> Connection:
        """Return a session that the server notifies of commits.

        It is one that an earlier wait has left, or a new one.
        """
        with suppress(IndexError):
            return self._listeners.pop()
        connection = self._sessions.open()
        # A standby sends no notifications: there a waiter only looks again from time to time.
        with suppress(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute(f"LISTEN {self._channel}")
        return connection

    def _check_process(self) -> None:
        """Raise Internal in a child process: two processes must not share one connection."""
        if self._pid != os.getpid():
            raise Internal(
                "a store was used in a child process that did not open it",
                hint="Open the store in the process that uses it.",
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the driver into errors that say what to do."""
        try:
            yield
        except psycopg.Error as error:
            raise explain(error, self.place) from error


def known_workspaces(url: str, prefix: str) -> list[str]:
    """Return the workspaces of a database whose names begin with a prefix."""
    sessions = Sessions(url, busy_seconds=1.0, connect_seconds=CONNECT_SECONDS)
    try:
        with sessions.open() as connection:
            return [name for (name,) in connection.execute(WORKSPACES, {"prefix": prefix})]
    except psycopg.Error as error:
        raise explain(error, sessions.place) from error


def _send(connection: Connection, statements: Sequence[Statement]) -> list[Rows]:
    """Run statements in one round trip; none is run after one that fails."""
    quoting = psycopg.ClientCursor(connection)
    cursor = connection.execute(
        b";".join(quoting.mogrify(sql, named).encode() for sql, named in statements)
    )
    results: list[Rows] = []
    while len(results) < len(statements):
        results.append(cursor.fetchall() if cursor.description else [])
        answered = cursor.statusmessage
        cursor.nextset()
    if statements[-1] is COMMIT and answered != "COMMIT":
        raise Internal(f"the server answered {answered} to a commit")
    return results
