"""The three stores behind one face: each knows how to be opened again, how time passes in it, and
how to damage it."""

import itertools
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from lease_histories import FakeClock

from dos.journal.backends.memory import MemoryBackend
from dos.journal.backends.open import open_store
from dos.journal.events import lanes
from dos.journal.events.reader import decode
from dos.journal.store import Store
from dos.lanes import admission
from dos.lease import Lease, Refusal, Request
from dos.regions import Mode, region

LONG_MS = 600_000
_numbers = itertools.count(1)


class Kind:
    name: str
    brief_ms = 1000  # a lease time that `pass_time` can outlast

    def open(self, actor: str = "test") -> Store:
        raise NotImplementedError

    def another(self) -> "Kind":
        """An empty one beside it."""
        raise NotImplementedError

    def pass_time(self, lease: Lease) -> None:
        """Until the lease has lapsed."""
        raise NotImplementedError

    def overwrite_body(self, pos: int, body: bytes) -> None:
        """Change a stored body behind the back of the store."""
        raise NotImplementedError

    def arguments(self) -> tuple[str, str, str]:
        """The URL, state directory and workspace with which another process opens it."""
        raise NotImplementedError


class Memory(Kind):
    name = "memory"

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.backend = MemoryBackend(clock=self.clock)

    def open(self, actor: str = "test") -> Store:
        return Store(self.backend, actor=actor)

    def another(self) -> Kind:
        return Memory()

    def pass_time(self, lease: Lease) -> None:
        self.clock.advance(lease.ttl_ms)


class Sqlite(Kind):
    name = "sqlite"

    def __init__(self, directory: Path, clock: FakeClock | None = None) -> None:
        self.directory = directory
        self.clock = clock or FakeClock()
        self.path = directory / "state.db"

    def open(self, actor: str = "test") -> Store:
        return open_store(
            "", state_directory=self.directory, workspace_id="", actor=actor, clock=self.clock
        )

    def another(self) -> Kind:
        return Sqlite(self.directory / "another", self.clock)

    def pass_time(self, lease: Lease) -> None:
        self.clock.advance(lease.ttl_ms)

    def overwrite_body(self, pos: int, body: bytes) -> None:
        with sqlite3.connect(self.path) as connection:
            connection.execute("DROP TRIGGER event_immutable")
            connection.execute("UPDATE event SET body = ? WHERE pos = ?", (body, pos))
        connection.close()

    def arguments(self) -> tuple[str, str, str]:
        return "", str(self.directory), ""


class Postgres(Kind):
    """One database for all tests, and a workspace for each."""

    name = "postgres"
    brief_ms = 500

    def __init__(self, url: str) -> None:
        self.url = url
        self.workspace = f"workspace-{next(_numbers)}"

    def open(self, actor: str = "test") -> Store:
        return open_store(
            self.url, state_directory=Path("/nowhere"), workspace_id=self.workspace, actor=actor
        )

    def another(self) -> Kind:
        return Postgres(self.url)

    def pass_time(self, lease: Lease) -> None:
        with self.open() as store:
            while not store.lapsed(lease):
                time.sleep(0.02)

    def overwrite_body(self, pos: int, body: bytes) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute("ALTER TABLE dos.event DISABLE TRIGGER event_immutable")
            connection.execute("UPDATE dos.event SET body = %s WHERE pos = %s", (body, pos))
            connection.execute("ALTER TABLE dos.event ENABLE TRIGGER event_immutable")

    def arguments(self) -> tuple[str, str, str]:
        return self.url, "/nowhere", self.workspace


admit = admission.judge


def asking(
    lane: str = "api", holder: str = "A", *, globs: Sequence[str] | None = None, **changes: Any
) -> Request:
    tree = region([f"{lane}/**"] if globs is None else globs)
    return Request(
        **{
            "lane": lane,
            "holder": holder,
            "host": "h1",
            "ttl_ms": LONG_MS,
            "region": tree,
            **changes,
        }
    )


def reading(lane: str = "api", holder: str = "A", **changes: Any) -> Request:
    return asking(lane, holder, mode=Mode.SHARED, **changes)


def locking(name: str = "archive", holder: str = "A", **changes: Any) -> Request:
    return asking(name, holder, globs=[], is_lock=True, **changes)


def grant(store: Store, asked: Request, budgets: dict[str, int] | None = None) -> Lease:
    lease = store.acquire(asked, partial(admit, budgets=budgets))
    assert isinstance(lease, Lease), lease
    return lease


def refuse(store: Store, asked: Request, budgets: dict[str, int] | None = None) -> Refusal:
    refusal = store.acquire(asked, partial(admit, budgets=budgets))
    assert isinstance(refusal, Refusal), refusal
    return refusal


def written(store: Store) -> list[tuple[str, int, str]]:
    return [(event.stream, event.ver, event.kind) for event in store.events()]


def folded_leases(store: Store) -> dict[int, tuple[Request, int, int, str]]:
    """Fence to what was asked, when it ends, its version and its boot: by the events alone."""
    live: dict[int, tuple[Request, int, int, str]] = {}
    for event in store.events():
        match decode(event):
            case lanes.LeaseGranted() as fact:
                live[event.pos] = (fact.asked, fact.expires_ms, event.ver, fact.boot)
            case lanes.LeaseAdopted() as fact:
                del live[fact.previous]
                live[event.pos] = (fact.asked, fact.expires_ms, event.ver, fact.boot)
            case lanes.LeaseRenewed() as fact:
                asked, _, _, boot = live[fact.lease]
                live[fact.lease] = (asked, fact.expires_ms, event.ver, boot)
            case lanes.LeaseReleased() | lanes.LeaseRevoked() | lanes.LeaseExpired() as fact:
                del live[fact.lease]
    return live


def listed_leases(store: Store) -> dict[int, tuple[Request, int, int, str]]:
    fields = Request.__struct_fields__
    return {
        lease.fence: (
            Request(**{name: getattr(lease, name) for name in fields}), lease.expires_ms,
            lease.version, lease.boot,
        )
        for lease in store.leases() + store.leases(locks=True)
    }  # fmt: skip


def run(url: str, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """One statement, past the store."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql, values or None)
        return cursor.fetchall() if cursor.description else []
