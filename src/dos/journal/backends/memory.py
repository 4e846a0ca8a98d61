"""The backend of tests and simulations: everything in this process, under the same rules.

`memory:` as the URL of a store selects it. A workspace without a journal is read through it as
well: reading must create no file.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from dos.journal.backend import NO_PREFETCH, Entry, Prefetch
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.times import Clock, SystemClock

K = TypeVar("K")
V = TypeVar("V")


class MemoryBackend:
    """Keeps a journal in memory. Transactions of all threads take turns."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._rows = Rows(clock or SystemClock())

    @contextmanager
    def read(self, *, once: bool = False) -> Iterator["Rows"]:  # noqa: ARG002
        """Open a view of the journal as it is now. Other threads wait until it is closed."""
        with self._changed:
            yield self._rows

    @contextmanager
    def write(
        self,
        prefetch: Prefetch = NO_PREFETCH,  # noqa: ARG002
    ) -> Iterator["Rows"]:
        """Open a transaction that is committed at the end of the block, or rolled back."""
        with self._changed:
            try:
                yield self._rows
            except BaseException:
                # Whatever ended the block, also Ctrl-C: half a transaction must not stay. The
                # exception is raised again.
                self._rows.roll_back()
                raise
            self._rows.commit()
            self._changed.notify_all()

    def wait(self, after: int, timeout_seconds: float) -> bool:
        """Wait for an event above `after`; False when the time is over."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while self._rows.last() <= after:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                self._changed.wait(remaining)
            return True

    def close(self) -> None:
        """Do nothing: no connection is open."""


class Rows:
    """The tables, and the steps that undo what the open transaction did.

    A table is a dictionary. Each change appends a step to `_undo` that reverses it, so a rollback
    is the steps in reverse order. The methods are those of `WriteTransaction`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._events: dict[int, Event] = {}  # insertion order is position order
        self._streams: dict[str, dict[int, int]] = {}  # version -> position
        self._floors: dict[str, int] = {}
        self._keys: dict[tuple[str, str], int] = {}
        self._leases: dict[int, Lease] = {}
        self._snapshots: dict[str, tuple[str, int, bytes]] = {}
        self._undo: list[Callable[[], object]] = []

    def commit(self) -> None:
        """Keep what the transaction did: from now on nothing can undo it."""
        self._undo.clear()

    def roll_back(self) -> None:
        """Undo what the transaction did, the newest change first."""
        while self._undo:
            self._undo.pop()()

    def wall_ms(self) -> int:
        return self._clock.wall_ms()

    def lease_ms(self) -> int:
        return self._clock.lease_ms()

    def boot(self) -> str:
        return self._clock.boot()

    def last(self) -> int:
        return next(reversed(self._events), 0)

    def head(self, stream: str) -> int:
        return next(reversed(self._streams.get(stream, {})), 0)

    def fence_floor(self, stream: str) -> int:
        return self._floors.get(stream, 0)

    def keyed(self, stream: str, key: str) -> Event | None:
        pos = self._keys.get((stream, key))
        if pos is None:
            return None
        return self._events[pos]

    def load(self, stream: str, after: int, limit: int | None) -> list[Event]:
        versions = self._streams.get(stream, {})
        events = [self._events[pos] for version, pos in versions.items() if version > after]
        return events[:limit]

    def tail(self, after: int, limit: int) -> list[Event]:
        # From the end: a reader that follows the journal asks only for its newest events.
        newest: list[Event] = []
        for pos in reversed(self._events):
            if pos <= after:
                break
            newest.append(self._events[pos])
        return newest[::-1][:limit]

    def raw(self, after: int, limit: int) -> list[tuple[Event, int]]:
        return [(event, event.checksum()) for event in self.tail(after, limit)]

    def count(self, after: int) -> int:
        return sum(pos > after for pos in self._events)

    def streams(self, prefix: str) -> list[str]:
        names = [name for name, rows in self._streams.items() if rows and name.startswith(prefix)]
        return sorted(names)

    def leases(self) -> list[Lease]:
        return [self._leases[fence] for fence in sorted(self._leases)]

    def lease(self, fence: int) -> Lease | None:
        return self._leases.get(fence)

    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None:
        snapshot = self._snapshots.get(name)
        if snapshot is None or snapshot[0] != code:
            return None
        return snapshot[1:]

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event:
        self._last += 1  # as in the other backends, a position that was rolled back is skipped
        event = entry.as_event(pos=self._last, ver=ver, actor=actor, raw=raw, now_ms=self.wall_ms())
        self._put(self._events, event.pos, event)
        self._put(self._streams.setdefault(event.stream, {}), ver, event.pos)
        if event.key is not None:
            self._put(self._keys, (event.stream, event.key), event.pos)
        if event.fence is not None:
            self._put(self._floors, event.stream, max(event.fence, self.fence_floor(event.stream)))
        return event

    def add_lease(self, lease: Lease) -> None:
        self._put(self._leases, lease.fence, lease)

    update_lease = add_lease

    def drop_lease(self, fence: int) -> None:
        self._remove(self._leases, [fence])

    def keep_snapshot(self, name: str, code: str, pos: int, state: bytes) -> None:
        self._put(self._snapshots, name, (code, pos, state))

    def delete(self, positions: Sequence[int]) -> None:
        # Another process may have deleted some of them.
        events = [self._events[pos] for pos in positions if pos in self._events]
        keys = [(event.stream, event.key) for event in events if event.key is not None]
        versions: dict[str, list[int]] = {}
        for event in events:
            versions.setdefault(event.stream, []).append(event.ver)
        self._remove(self._events, [event.pos for event in events])
        self._remove(self._keys, keys)
        for stream, stream_versions in versions.items():
            self._remove(self._streams[stream], stream_versions)

    def _put(self, table: dict[K, V], key: K, value: V) -> None:
        """Set an entry of a table, and note how to undo that."""
        if key in table:
            old = table[key]
            self._undo.append(lambda: table.__setitem__(key, old))
        else:
            self._undo.append(lambda: table.pop(key))
        table[key] = value

    def _remove(self, table: dict[K, V], keys: Sequence[K]) -> None:
        """Remove entries of a table, and note how to undo that."""
        # Undone by rebuilding the table: the order of insertion is the order of positions.
        before = dict(table)

        def restore() -> None:
            table.clear()
            table.update(before)

        self._undo.append(restore)
        for key in keys:
            del table[key]
