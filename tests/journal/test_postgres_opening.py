"""Opening a PostgreSQL store: what is made, what is refused, and what is said about it."""

import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from store_kinds import Postgres, asking, grant, run

from dos.errors import (
    BadInput,
    Internal,
    JournalCorrupt,
    JournalTooNew,
    StoreBusy,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from dos.journal.backends import postgres_session
from dos.journal.backends.postgres import PostgresBackend
from dos.journal.backends.postgres_session import explain
from dos.journal.store import Store

SECRET = "s3cret-w0rd"


@pytest.fixture
def kind(shared_database) -> Postgres:
    return Postgres(shared_database)


def test_many_who_open_a_new_database_at_once_make_one_journal(new_database):
    def work(name: int) -> int:
        with Store(PostgresBackend(new_database, workspace="w")) as own:
            return own.append("a", "k", name).ver

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(work, range(6))) == [1, 2, 3, 4, 5, 6]
    assert run(new_database, "SELECT number FROM dos.version") == [(postgres_session.VERSION,)]


def test_an_older_database_is_brought_up_to_date_and_keeps_everything(new_database, monkeypatch):
    kind = Postgres(new_database)
    with kind.open() as store:
        event, lease = store.append("a", "k", {"n": 1}), grant(store, asking())
    step = "ALTER TABLE dos.event ADD COLUMN extra text"
    monkeypatch.setattr(postgres_session, "STEPS", (*postgres_session.STEPS, step))
    monkeypatch.setattr(postgres_session, "VERSION", postgres_session.VERSION + 1)
    for _ in range(2):
        with kind.open() as store:
            assert (store.load("a"), store.leases()) == ([event], [lease])
    assert run(new_database, "SELECT number FROM dos.version") == [(postgres_session.VERSION,)]
    assert run(new_database, "SELECT extra FROM dos.event LIMIT 1") == [(None,)]


def test_a_step_that_fails_leaves_the_database_as_it_was(new_database, monkeypatch):
    kind = Postgres(new_database)
    kind.open().close()
    steps = (*postgres_session.STEPS, "CREATE TABLE dos.half(); SELECT 1 / 0")
    monkeypatch.setattr(postgres_session, "STEPS", steps)
    monkeypatch.setattr(postgres_session, "VERSION", len(steps))
    with pytest.raises(StoreFailed):
        kind.open()
    monkeypatch.undo()
    assert run(new_database, "SELECT to_regclass('dos.half')") == [(None,)]
    kind.open().close()


def test_a_newer_database_is_refused(new_database):
    kind = Postgres(new_database)
    kind.open().close()
    run(new_database, "UPDATE dos.version SET number = 99")
    with pytest.raises(JournalTooNew, match="schema 99") as caught:
        kind.open()
    assert "Upgrade" in caught.value.hint


def test_a_schema_of_another_program_is_refused_and_untouched(new_database):
    run(new_database, "CREATE SCHEMA dos")
    run(new_database, "CREATE TABLE dos.event(theirs int)")
    with pytest.raises(StoreFailed, match="another program"):
        Postgres(new_database).open()
    assert run(
        new_database, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'dos'"
    ) == [(1,)]


def test_a_database_that_cannot_hold_every_name_is_refused(postgres):
    run(postgres.dsn, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(StoreFailed, match="LATIN1"):
        Postgres(postgres.url("latin")).open()


def test_a_server_that_takes_no_writes_is_read_only(new_database):
    kind = Postgres(new_database)
    with kind.open() as store:
        store.append("a", "k", 1)
    run(
        new_database,
        (
            f'ALTER DATABASE "{new_database.rpartition("/")[2]}" SET '
            f"default_transaction_read_only = on"
        ),
    )
    with kind.open() as store:
        assert [event.body for event in store.load("a")] == [1]
        for use in (lambda: store.append("a", "k", 2), lambda: grant(store, asking())):
            with pytest.raises(StoreReadOnly):
                use()


def test_a_store_opened_for_reading_does_not_write(kind):
    with kind.open() as store:
        store.append("a", "k", 1)
    with Store(PostgresBackend(kind.url, workspace=kind.workspace, read_only=True)) as store:
        assert len(store.tail()) == 1
        with pytest.raises(StoreReadOnly):
            store.append("a", "k", 2)


def test_a_schema_made_for_a_user_who_may_make_none_is_enough(new_database):
    for statement in (
        "DROP ROLE IF EXISTS tenant",
        "CREATE ROLE tenant LOGIN",
        "CREATE SCHEMA dos AUTHORIZATION tenant",
        "CREATE EXTENSION btree_gist WITH SCHEMA dos",
    ):
        run(new_database, statement)
    with Postgres(new_database.replace("postgres@", "tenant@")).open() as store:
        grant(store, asking())
    run(new_database, "DROP OWNED BY tenant CASCADE")


def test_a_user_without_rights_is_told_so(new_database):
    Postgres(new_database).open().close()
    run(new_database, "CREATE ROLE guest LOGIN")
    with pytest.raises(StoreReadOnly, match="permission denied"):
        Postgres(new_database.replace("postgres@", "guest@")).open()


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=u&password={SECRET}",
        f"postgresql://u:{SECRET}@127.0.0.1:port/db",
        f"postgresql://u:{SECRET}/x@127.0.0.1:1/db",
        f"postgresql://u:a/{SECRET}@127.0.0.1:1/db",
        f"postgresql://u:{SECRET}@more@127.0.0.1:1/db",
        f"postgresql://u:{SECRET}:more@127.0.0.1:1/db",
        f"postgresql://u:{SECRET}%zz@127.0.0.1:1/db",
        f"postgresql://u:{SECRET}@127.0.0.1:1/db?nonsense=1",
        f"postgresql://u:{SECRET}@[127.0.0.1:1/db",
        f"postgresql://u:x#{SECRET}@127.0.0.1:1/db",
        f"postgresql://u:x?{SECRET}@127.0.0.1:1/db",
        f"postgresql://u:{SECRET}@%2Fno%2Fsuch%2Fsocket/db",
    ],
)
def test_a_password_is_in_no_error(url):
    with pytest.raises((StoreUnreachable, BadInput)) as caught:
        PostgresBackend(url, workspace="w", connect_seconds=2)
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    lines = [line for line in shown.splitlines() if SECRET in line]
    assert not lines, lines


def test_a_password_is_in_no_error_of_a_working_connection(new_database):
    run(new_database, f"CREATE ROLE keeper LOGIN SUPERUSER PASSWORD '{SECRET}'")
    backend = PostgresBackend(new_database.replace("postgres@", f"keeper:{SECRET}@"), workspace="w")
    store = Store(backend)
    store.append("a", "k", {})
    run(new_database, "DROP TABLE dos.snapshot, dos.lease_path, dos.lease, dos.event")
    for use in (store.last, lambda: store.append("a", "k", {})):
        with pytest.raises(StoreFailed) as caught:
            use()
        assert SECRET not in "".join(traceback.format_exception(caught.value)) + caught.value.hint
        assert "keeper@127.0.0.1" in str(caught.value)
    assert SECRET not in repr(vars(backend))
    store.close()


@pytest.mark.parametrize(
    ("raised", "answer"),
    [
        (psycopg.errors.DiskFull, StoreFull),
        (psycopg.errors.LockNotAvailable, StoreBusy),
        (psycopg.errors.QueryCanceled, StoreBusy),
        (psycopg.errors.DeadlockDetected, StoreBusy),
        (psycopg.errors.ReadOnlySqlTransaction, StoreReadOnly),
        (psycopg.errors.InsufficientPrivilege, StoreReadOnly),
        (psycopg.errors.DataCorrupted, JournalCorrupt),
        (psycopg.errors.IndexCorrupted, JournalCorrupt),
        (psycopg.errors.ExclusionViolation, Internal),
        (psycopg.errors.AdminShutdown, StoreUnreachable),
        (psycopg.errors.TooManyConnections, StoreUnreachable),
        (psycopg.errors.ConnectionFailure, StoreUnreachable),
        (psycopg.OperationalError, StoreUnreachable),
        (psycopg.errors.UndefinedTable, StoreFailed),
        (psycopg.DataError, BadInput),
    ],
)
def test_what_the_driver_raises_is_told_by_what_can_be_done(raised, answer):
    explanation = explain(raised("said"), "postgresql://h/db")
    assert type(explanation) is answer
    assert "postgresql://h/db" in str(explanation)


def test_without_the_driver_it_is_said_how_to_install_it(tmp_path):
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path\n"
        "from dos.errors import StoreUnreachable\n"
        "from dos.journal.backends.open import open_store\n"
        "try: open_store('postgresql://h/d', state_directory=Path('.'), workspace_id='w')\n"
        "except StoreUnreachable as error: print(error.hint)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout == "pip install 'dispatch-os[postgres]'\n"
