"""The rows of one workspace, as one transaction reads and changes them.

A round trip to the server costs more than the work there. So what a writer will read is fetched
with the lock, and what it writes is sent with the commit. Both are safe, because no other process
can change the workspace in between.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from zlib import crc32

from msgspec import json, structs

from dos.errors import Internal
from dos.journal import streams
from dos.journal.backend import (
    COLUMNS,
    Entry,
    Prefetch,
    decode_event,
    decode_lease,
    decode_unverified,
)
from dos.journal.events.envelope import Event
from dos.lease import Lease
from dos.regions import Mode

Statement = tuple[str, Mapping[str, object]]
Rows = list[tuple[Any, ...]]
Trip = Callable[[Sequence[Statement]], list[Rows]]

BOOT = "postgres"  # leases follow the server's clock: the restart of a holder's host voids nothing
READ: Statement = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})
WRITE: Statement = ("BEGIN ISOLATION LEVEL READ COMMITTED", {})
COMMIT: Statement = ("COMMIT", {})
ROLLBACK: Statement = ("ROLLBACK", {})

_NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_CLOCK: Statement = (f"SELECT {_NOW}", {})
_POSITIONS = f"SELECT nextval('dos.position'), {_NOW} FROM generate_series(1, %(count)s::int)"
_MOST_POSITIONS = 256  # fetched at a time
_EVENTS = f"SELECT {COLUMNS} FROM dos.event WHERE workspace = %(workspace)s"
_INSERT = (
    f"INSERT INTO dos.event(workspace, {COLUMNS})"
    " VALUES (%(workspace)s, %(pos)s::bigint, %(stream)s,"
    " %(ver)s::bigint, %(kind)s, %(at_ms)s::bigint, %(actor)s, %(fence)s::bigint, %(key)s,"
    " %(schema)s::int,"
    " %(raw)s, %(crc)s::bigint)"
)
_HEADS = """
  SELECT asked.stream,
    coalesce((SELECT max(ver) FROM dos.event e
              WHERE e.workspace = %(workspace)s AND e.stream = asked.stream), 0),
    coalesce((SELECT max(fence) FROM dos.event e
              WHERE e.workspace = %(workspace)s AND e.stream = asked.stream
              AND fence IS NOT NULL), 0)
  FROM unnest(%(streams)s::text[]) AS asked(stream)"""
_KEYED = (
    _EVENTS + " AND key IS NOT NULL AND (stream, key) IN"
    " (SELECT * FROM unnest(%(streams)s::text[], %(keys)s::text[]))"
)
_LEASES = "SELECT fence, body FROM dos.lease WHERE workspace = %(workspace)s ORDER BY fence"
_SOME_LEASES = """
  SELECT fence, body, stream,
    (SELECT max(ver) FROM dos.event e WHERE e.workspace = l.workspace AND e.stream = l.stream)
  FROM dos.lease l WHERE workspace = %(workspace)s AND fence = ANY(%(fences)s::bigint[])"""

# From name to name along the key: as many reads as there are names, however many events.
WORKSPACES = """
  WITH RECURSIVE known(name) AS (
    SELECT min(workspace) FROM dos.event WHERE workspace >= %(prefix)s
    UNION ALL SELECT (SELECT min(workspace) FROM dos.event WHERE workspace > name) FROM known
    WHERE starts_with(name, %(prefix)s))
  SELECT name FROM known WHERE starts_with(name, %(prefix)s)"""


class View:
    """One consistent view. It is opened in the round trip of the first question.

    Its methods are those of `ReadTransaction`.
    """

    def __init__(self, workspace: str, trip: Trip, *, once: bool = False) -> None:
        self._workspace = workspace
        self._trip = trip
        self._once = once
        self._opening = [_CLOCK] if once else [READ, _CLOCK]
        self._now_ms: int | None = None
        self._waiting: list[Statement] = []

    def wall_ms(self) -> int:
        """Return the server's time.

        Hosts may disagree about the wall clock, so the server's counts for all of them.
        """
        return self.lease_ms()

    def lease_ms(self) -> int:
        """Return the server's time, which is read once for the whole view."""
        if self._now_ms is None:
            self._now_ms = self._trip(self._opening)[-1][0][0]
        return self._now_ms

    def boot(self) -> str:
        return BOOT

    def last(self) -> int:
        sql = "SELECT coalesce(max(pos), 0) FROM dos.event WHERE workspace = %(workspace)s"
        return int(self._ask(sql)[0][0])

    def head(self, stream: str) -> int:
        return int(self._ask(_HEADS, streams=[stream])[0][1])

    def fence_floor(self, stream: str) -> int:
        return int(self._ask(_HEADS, streams=[stream])[0][2])

    def keyed(self, stream: str, key: str) -> Event | None:
        found = self._ask(_KEYED, streams=[stream], keys=[key])
        if not found:
            return None
        return decode_event(found[0])

    def load(self, stream: str, after: int, limit: int | None) -> list[Event]:
        sql = (
            _EVENTS + " AND stream = %(stream)s AND ver > %(after)s::bigint"
            " ORDER BY ver LIMIT %(limit)s::bigint"
        )
        rows = self._ask(sql, stream=stream, after=after, limit=limit)
        return [decode_event(row) for row in rows]

    def tail(self, after: int, limit: int) -> list[Event]:
        return [event.verified(crc) for event, crc in self.raw(after, limit)]

    def raw(self, after: int, limit: int) -> list[tuple[Event, int]]:
        sql = _EVENTS + " AND pos > %(after)s::bigint ORDER BY pos LIMIT %(limit)s::bigint"
        return [decode_unverified(row) for row in self._ask(sql, after=after, limit=limit)]

    def count(self, after: int) -> int:
        sql = (
            "SELECT count(*) FROM dos.event"
            " WHERE workspace = %(workspace)s AND pos > %(after)s::bigint"
        )
        return int(self._ask(sql, after=after)[0][0])

    def streams(self, prefix: str) -> list[str]:
        sql = (
            "SELECT DISTINCT stream FROM dos.event WHERE workspace = %(workspace)s"
            " AND starts_with(stream, %(prefix)s) ORDER BY stream"
        )
        return [stream for (stream,) in self._ask(sql, prefix=prefix)]

    def leases(self) -> list[Lease]:
        return [decode_lease(*row) for row in self._ask(_LEASES)]

    def lease(self, fence: int) -> Lease | None:
        found = self._ask(_SOME_LEASES, fences=[fence])
        if not found:
            return None
        return decode_lease(*found[0][:2])

    def snapshot(self, name: str, code: str) -> tuple[int, bytes] | None:
        sql = (
            "SELECT pos, state, crc FROM dos.snapshot"
            " WHERE workspace = %(workspace)s AND name = %(name)s AND code = %(code)s"
        )
        for pos, state, crc in self._ask(sql, name=name, code=code):
            # A damaged snapshot is no loss: its events are still there.
            return (pos, state) if crc32(state) == crc else None
        return None

    def _ask(self, sql: str, **named: object) -> Rows:
        """Send the statements that wait, and with them one question."""
        if self._now_ms is None:
            results = self._trip([*self._opening, self._statement(sql, named)])
            self._now_ms = results[-2][0][0]
        elif self._once:
            raise Internal("two questions were asked where one was announced")
        else:
            results = self._trip([*self._waiting, self._statement(sql, named)])
        self._waiting = []
        return results[-1]

    def _statement(self, sql: str, named: Mapping[str, object]) -> Statement:
        """Return a statement with its values, and with the workspace that every row belongs to."""
        return sql, {"workspace": self._workspace, **named}


class Transaction(View):
    """A view that can also change rows; what it has read, it keeps until the end.

    Its methods are those of `WriteTransaction`.
    """

    def __init__(self, workspace: str, trip: Trip) -> None:
        super().__init__(workspace, trip)
        self.changed = False
        self._positions: list[int] = []
        self._fetched = 1
        self._heads: dict[str, int] = {}
        self._floors: dict[str, int] = {}
        self._keys: dict[tuple[str, str], Event | None] = {}
        self._known: dict[int, Lease | None] = {}
        self._all_known = False

    def begin(self, lock: Statement, prefetch: Prefetch) -> None:
        """Wait for the lock, and then, in the same trip, read the clock and what will be needed."""
        streams = list(
            dict.fromkeys([*prefetch.streams, *(entry.stream for entry in prefetch.entries)])
        )
        keys = [(entry.stream, entry.key) for entry in prefetch.entries if entry.key is not None]
        fences = [
            *prefetch.fences,
            *(entry.fence for entry in prefetch.entries if entry.fence is not None),
        ]
        count = min(max(1, len(prefetch.entries), len(prefetch.fences)), _MOST_POSITIONS)
        facts: list[tuple[Statement, Callable[[Rows], None]]] = []
        if streams:
            facts.append((self._statement(_HEADS, {"streams": streams}), self._learn_heads))
        if keys:
            named = {"streams": [stream for stream, _ in keys], "keys": [key for _, key in keys]}
            facts.append((self._statement(_KEYED, named), partial(self._learn_keys, keys)))
        if fences:
            facts.append(
                (
                    self._statement(_SOME_LEASES, {"fences": fences}),
                    partial(self._learn_leases, fences),
                )
            )
        if prefetch.leases:
            facts.append((self._statement(_LEASES, {}), self._learn_all_leases))
        _, _, drawn, *found = self._trip(
            [WRITE, lock, (_POSITIONS, {"count": count}), *(asked for asked, _ in facts)]
        )
        self._now_ms, self._fetched = drawn[0][1], count
        self._positions = [pos for pos, _ in drawn]
        for (_, learn), rows in zip(facts, found, strict=True):
            learn(rows)

    def waiting(self) -> list[Statement]:
        """Return the statements to send with the commit."""
        return self._waiting

    def head(self, stream: str) -> int:
        if stream not in self._heads:
            self._learn_heads(self._ask(_HEADS, streams=[stream]))
        return self._heads[stream]

    def fence_floor(self, stream: str) -> int:
        if stream not in self._floors:
            self._learn_heads(self._ask(_HEADS, streams=[stream]))
        return self._floors[stream]

    def keyed(self, stream: str, key: str) -> Event | None:
        if (stream, key) not in self._keys:
            self._keys[stream, key] = super().keyed(stream, key)
        return self._keys[stream, key]

    def leases(self) -> list[Lease]:
        if not self._all_known:
            self._learn_all_leases(self._ask(_LEASES))
        return [lease for _, lease in sorted(self._known.items()) if lease]

    def lease(self, fence: int) -> Lease | None:
        if fence not in self._known and not self._all_known:
            self._learn_leases([fence], self._ask(_SOME_LEASES, fences=[fence]))
        return self._known.get(fence)

    def insert(self, entry: Entry, ver: int, actor: str, raw: bytes) -> Event:
        event = entry.as_event(
            pos=self._position(), ver=ver, actor=actor, raw=raw, now_ms=self.wall_ms()
        )
        self._change(_INSERT, **structs.asdict(event), crc=event.checksum())
        self._heads[event.stream] = ver
        if event.key is not None:
            self._keys[event.stream, event.key] = event
        if event.fence is not None and event.stream in self._floors:
            self._floors[event.stream] = max(event.fence, self._floors[event.stream])
        return event

    def add_lease(self, lease: Lease) -> None:
        shared = lease.mode is Mode.SHARED
        self._change(
            "INSERT INTO dos.lease(workspace, fence, stream, is_lock, shared, exclusive, body)"
            " VALUES (%(workspace)s, %(fence)s::bigint, %(stream)s, %(is_lock)s, %(shared)s,"
            " %(exclusive)s, %(body)s)",
            fence=lease.fence,
            stream=streams.lease(lease.lane, is_lock=lease.is_lock),
            is_lock=lease.is_lock,
            shared=shared,
            exclusive=lease.exclusive,
            body=json.encode(lease),
        )
        if lease.region.prefixes:
            self._change(
                "INSERT INTO dos.lease_path(workspace, fence, path, shared)"
                " SELECT %(workspace)s, %(fence)s::bigint, path, %(shared)s"
                " FROM unnest(%(paths)s::bytea[]) AS p(path)",
                fence=lease.fence,
                shared=shared,
                paths=[prefix.encode() for prefix in lease.region.prefixes],
            )
        self._known[lease.fence] = lease

    def update_lease(self, lease: Lease) -> None:
        sql = (
            "UPDATE dos.lease SET body = %(body)s"
            " WHERE workspace = %(workspace)s AND fence = %(fence)s::bigint"
        )
        self._change(sql, fence=lease.fence, body=json.encode(lease))
        self._known[lease.fence] = lease

    def drop_lease(self, fence: int) -> None:
        self._change(
            "DELETE FROM dos.lease WHERE workspace = %(workspace)s AND fence = %(fence)s::bigint",
            fence=fence,
        )
        self._known[fence] = None

    def keep_snapshot(self, name: str, code: str, pos: int, state: bytes) -> None:
        self._change(
            "INSERT INTO dos.snapshot(workspace, name, code, pos, state, crc)"
            " VALUES (%(workspace)s, %(name)s,"
            " %(code)s, %(pos)s::bigint, %(state)s, %(crc)s::bigint)"
            " ON CONFLICT (workspace, name) DO UPDATE SET"
            " code = excluded.code, pos = excluded.pos, state = excluded.state, crc = excluded.crc",
            name=name,
            code=code,
            pos=pos,
            state=state,
            crc=crc32(state),
        )

    def delete(self, positions: Sequence[int]) -> None:
        sql = (
            "DELETE FROM dos.event"
            " WHERE workspace = %(workspace)s AND pos = ANY(%(positions)s::bigint[])"
        )
        self._change(sql, positions=list(positions))
        for facts in (self._heads, self._floors, self._keys):
            facts.clear()

    def _change(self, sql: str, **named: object) -> None:
        """Note a change. It is sent with the next question, or with the commit."""
        self._waiting.append(self._statement(sql, named))
        self.changed = True

    def _position(self) -> int:
        """Return a new position. They are drawn in batches that double, to save round trips."""
        if not self._positions:
            self._fetched = min(2 * self._fetched, _MOST_POSITIONS)
            self._positions = [pos for pos, _ in self._ask(_POSITIONS, count=self._fetched)]
        return self._positions.pop(0)

    def _learn_heads(self, rows: Rows) -> None:
        """Keep the newest version and the highest fence of streams."""
        for stream, head, floor in rows:
            self._heads[stream], self._floors[stream] = head, floor

    def _learn_keys(self, keys: Sequence[tuple[str, str]], rows: Rows) -> None:
        """Keep the events of keys that were asked for; a key without a row is known to be free."""
        self._keys |= dict.fromkeys(keys)
        self._keys |= {(event.stream, event.key or ""): event for event in map(decode_event, rows)}

    def _learn_leases(self, fences: Sequence[int], rows: Rows) -> None:
        """Keep the leases of fences that were asked for, and the heads of their streams."""
        self._known |= dict.fromkeys(fences)
        for fence, body, stream, head in rows:
            self._known[fence] = decode_lease(fence, body)
            self._heads[stream] = head or 0

    def _learn_all_leases(self, rows: Rows) -> None:
        """Keep all leases: from now on a fence that is not among them is not held."""
        self._known = {fence: decode_lease(fence, body) for fence, body in rows}
        self._all_known = True
