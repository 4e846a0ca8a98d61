"""The tests' PostgreSQL server answers, can be killed, and keeps what was committed."""

import os
from collections.abc import Iterator
from pathlib import Path

import postgres_server
import psutil
import psycopg
import pytest
from postgres_server import PostgresServer, PostgresUnavailable


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """One to kill: the shared one is other tests' too. It depends on that one to be skipped where
    there is none."""
    with PostgresServer(settings={"work_mem": "1MB"}) as own:
        yield own


def scalar(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def test_the_shared_server_answers_and_syncs(postgres: PostgresServer) -> None:
    assert scalar(postgres.dsn, "SELECT 6 * 7") == 42
    assert scalar(postgres.dsn, "SHOW fsync") == "on"
    assert scalar(postgres.dsn, "SHOW synchronous_commit") == "on"


def test_it_listens_on_loopback_and_on_a_socket_only(server: PostgresServer) -> None:
    assert scalar(server.dsn, "SELECT host(inet_server_addr())") == "127.0.0.1"
    assert scalar(server.socket_url("postgres"), "SELECT inet_server_addr() IS NULL") is True
    assert scalar(server.dsn, "SHOW listen_addresses") == "127.0.0.1"


def test_settings_reach_the_server(server: PostgresServer) -> None:
    assert scalar(server.dsn, "SHOW work_mem") == "1MB"


def test_a_new_database_is_empty_and_apart(server: PostgresServer) -> None:
    first, second = server.createdb('odd "name"/1'), server.createdb("plain")
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE thing()")
    assert scalar(first, "SELECT to_regclass('thing') IS NOT NULL") is True
    assert scalar(second, "SELECT to_regclass('thing') IS NULL") is True


def test_whether_an_extension_is_there_is_told_truly(server: PostgresServer) -> None:
    assert server.has_extension("plpgsql")
    assert not server.has_extension("no_such_extension")
    if server.has_extension("btree_gist"):
        with psycopg.connect(server.createdb("gist")) as connection:
            connection.execute("CREATE EXTENSION btree_gist")


def test_after_a_kill_what_was_committed_is_there_and_nothing_else(server: PostgresServer) -> None:
    url = server.createdb("killed")
    writer = psycopg.connect(url)
    writer.execute("CREATE TABLE event(seq int)")
    for number in range(50):
        writer.execute("INSERT INTO event VALUES (%s)", (number,))
        writer.commit()
    writer.execute("INSERT INTO event VALUES (-1)")
    assert server.process is not None
    family = psutil.Process(server.process.pid).children(recursive=True)
    assert family
    server.kill()
    assert not any(
        process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family
    )
    with pytest.raises(psycopg.OperationalError):
        writer.commit()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    server.start()
    assert scalar(url, "SELECT array_agg(seq ORDER BY seq) FROM event") == list(range(50))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_keeps_the_address_and_the_data(
    server: PostgresServer, mode: postgres_server.StopMode
) -> None:
    url = server.createdb(f"restarted_{mode}")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE thing AS SELECT 1 AS number")
    server.restart(mode)
    assert scalar(url, "SELECT number FROM thing") == 1


def test_stopping_or_killing_what_is_stopped_changes_nothing(server: PostgresServer) -> None:
    server.stop()
    server.stop()
    server.kill()
    server.start()
    assert scalar(server.dsn, "SELECT 1") == 1


def test_starting_twice_is_refused(server: PostgresServer) -> None:
    with pytest.raises(RuntimeError, match="running already"):
        server.start()


def test_closing_leaves_no_process_and_no_file(postgres: PostgresServer) -> None:
    with PostgresServer() as server:
        assert server.process is not None
        pid, directory = server.process.pid, server.directory
        assert directory.exists()
    assert not psutil.pid_exists(pid)
    assert not directory.exists()


def test_without_a_server_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "find_programs", lambda: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(PostgresUnavailable, match="not on the PATH"):
        PostgresServer()


def test_a_wrapper_without_a_server_beside_it_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "initdb").write_text("#!/bin/sh\n")
    (tmp_path / "initdb").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert postgres_server.find_programs() != tmp_path


def test_a_failed_installation_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apt-get").write_text("#!/bin/sh\necho no network >&2\nexit 100\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(PostgresUnavailable, match="apt-get update failed: no network"):
        postgres_server.install()
