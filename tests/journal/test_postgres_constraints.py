"""Behind the rules: what the tables of PostgreSQL refuse to whoever goes past the store."""

from collections.abc import Iterator

import psycopg
import pytest
from store_kinds import Postgres, admit, asking, grant, locking, reading, run, written

from dos.errors import Internal, JournalCorrupt
from dos.journal.store import Store
from dos.lease import Lease


@pytest.fixture
def kind(shared_database) -> Postgres:
    return Postgres(shared_database)


@pytest.fixture
def store(kind) -> Iterator[Store]:
    with kind.open() as opened:
        yield opened


def insert_path(kind: Postgres, path: str, *, shared: bool = False) -> None:
    """A writer that asks nobody: it takes no lock and judges nothing."""
    with psycopg.connect(kind.url) as connection:
        row = connection.execute("SELECT nextval('dos.position')").fetchone()
        assert row is not None
        connection.execute(
            "INSERT INTO dos.lease VALUES (%s, %s, 'lane/bypass', false, %s, false, '')",
            (kind.workspace, row[0], shared),
        )
        connection.execute(
            "INSERT INTO dos.lease_path VALUES (%s, %s, %s, %s)",
            (kind.workspace, row[0], path.encode(), shared),
        )


@pytest.mark.parametrize(
    ("held", "path", "shared", "refused"),
    [
        (asking("src/api"), "src/api/", False, True),
        (asking("src/api"), "src/api/deep/er/", False, True),
        (asking("src/api"), "src/", False, True),
        (asking("src/api"), "", False, True),
        (asking("x", globs=["**/*"]), "anything/", False, True),
        (asking("src/api"), "src/api/", True, True),
        (reading("src/api"), "src/", False, True),
        (reading("src/api"), "src/", True, False),
        (asking("src/api"), "src/apis/", False, False),
        (asking("src/é"), "src/f/", False, False),
        (asking("src/🦊"), "src/🦊/x/", False, True),
    ],
)
def test_a_lease_inserted_past_the_rules_is_refused_where_it_overlaps(
    store, kind, held, path, shared, refused
):
    grant(store, held)
    if refused:
        with pytest.raises(psycopg.errors.ExclusionViolation):
            insert_path(kind, path, shared=shared)
    else:
        insert_path(kind, path, shared=shared)


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        (asking("api"), asking("api", "B", globs=["elsewhere/**"])),
        (reading("api"), asking("api", "B", globs=["elsewhere/**"])),
        (asking("api", exclusive=True), asking("docs", "B")),
        (asking("api"), asking("docs", "B", exclusive=True)),
        (locking("archive"), locking("archive", "B")),
        (asking("a", globs=["src/**"]), reading("b", "B", globs=["src/x"])),
    ],
)
def test_a_rule_that_grants_too_much_is_caught_by_the_database(store, held, asked):
    grant(store, held)
    before = written(store)
    with pytest.raises(Internal, match="refused a write"):
        store.acquire(asked, lambda asked, live: None)
    assert written(store) == before
    assert not isinstance(store.acquire(asked, admit), Lease)


def test_a_stored_event_cannot_be_changed(store, kind):
    store.append("a", "k", {})
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="IMMUTABLE"):
        run(kind.url, "UPDATE dos.event SET body = '' WHERE workspace = %s", kind.workspace)


def test_a_damaged_lease_is_named(store, kind):
    lease = grant(store, asking())
    run(kind.url, "UPDATE dos.lease SET body = '{' WHERE workspace = %s", kind.workspace)
    for use in (store.leases, lambda: store.release(lease.fence)):
        with pytest.raises(JournalCorrupt, match=f"fence {lease.fence}"):
            use()
