"""The rows of a SQLite journal, as one transaction reads and changes them.

The rules about events and leases are the store's. The constraints of the tables are a second guard:
a write that breaks one is a bug, and is refused.
"""

import sqlite3
from collections.abc import Sequence
from zlib import crc32

from msgspec import json, structs

from dos.journal.backend import COLUMNS, Entry, decode_event, decode_lease, decode_unverified
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.regions import Mode
from dos.text import comparison_key
from dos.times import Clock


class Transaction:
    """A read or write transaction; its methods are those of `WriteTransaction`.

    Every row that is read is verified by its checksum, except by `raw`.
    """

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
        if limit is None:
            limit = -1  # to SQLite, no limit
        rows = self._sql(
            f"SELECT {COLUMNS} FROM event WHERE stream = ? AND ver > ? ORDER BY ver LIMIT ?",
            (stream, after, limit),
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
        # The checksum leaves the position out, which SQLite assigns.
        event = entry.as_event(pos=0, ver=ver, actor=actor, raw=raw, now_ms=self.wall_ms())
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
