"""Sessions with a PostgreSQL server, and what its errors mean.

A session is opened with the guarantees that the journal needs, in a database that has its tables.
"""

import time
from typing import Any
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from dos.errors import (
    BadInput,
    DosError,
    Internal,
    JournalCorrupt,
    JournalTooNew,
    StoreBusy,
    StoreFailed,
    StoreForeign,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from dos.journal.backend import DurabilityNote

_LOOK = "Run `dos doctor` to see what is wrong with the server."


def explain(error: psycopg.Error, place: str) -> DosError:  # noqa: C901, PLR0911
    """Return the error of dos that an error of PostgreSQL stands for, with what to do."""
    said = " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__
    if isinstance(error, psycopg.DataError) and not error.sqlstate:
        return BadInput(f"{place}: what was to be written cannot be stored: {said}")
    match error.sqlstate or "":
        case "55P03":
            return StoreBusy(
                f"{place}: another process has held the write lock for too long",
                hint="Look for a stopped `dos` process on any host;"
                " the server lists its sessions in pg_stat_activity.",
            )
        case "57014" | "40001" | "40P01":
            return StoreBusy(
                f"{place}: the server cancelled the request: {said}", hint="Try again."
            )
        case "53100":
            return StoreFull(
                f"{place}: no space is left on the server's disk",
                hint="Free some space; nothing was lost.",
            )
        case "25006":
            return StoreReadOnly(
                f"{place} cannot be written: {said}",
                hint="Name the primary, not a standby, in the URL.",
            )
        case "42501":
            return StoreReadOnly(
                f"{place} cannot be used: {said}", hint="Grant the user its rights on schema dos."
            )
        case "XX001" | "XX002":
            return JournalCorrupt(
                f"{place} is damaged: {said}", hint="Run `dos journal check` to see the damage."
            )
        case "58P01" | "0A000" if "btree_gist" in said:
            return StoreFailed(
                f"{place}: {said}", hint="Install the contrib package of PostgreSQL on the server."
            )
        case state if state.startswith("23"):
            return Internal(
                f"{place}: the store refused a write that the rules had allowed: {said}"
            )
        case state if not state or state.startswith(("08", "53", "57P", "58")):
            return StoreUnreachable(f"{place}: {said}", hint=_LOOK)
    return StoreFailed(f"{place}: {said}", hint=_LOOK)


# Step n takes a database from version n - 1 to n. Steps are never edited after a release.
#
# Ranges of fences express which leases exclude each other: `(,)` overlaps all, a range of one fence
# only itself. So one constraint refuses two writers, or a writer beside readers, and lets readers
# share.
STEPS: tuple[str, ...] = (
    r"""
    CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA dos;
    CREATE SEQUENCE dos.position;  -- advanced only under a workspace's lock, so it grows in the order of commits

    CREATE TABLE dos.event(
      workspace text COLLATE "C" NOT NULL, pos bigint NOT NULL, stream text COLLATE "C" NOT NULL, ver bigint NOT NULL,
      kind text COLLATE "C" NOT NULL, at_ms bigint NOT NULL, actor text COLLATE "C" NOT NULL, fence bigint,
      key text COLLATE "C", schema integer NOT NULL, body bytea NOT NULL, crc bigint NOT NULL,
      PRIMARY KEY (workspace, pos), UNIQUE (workspace, stream, ver));
    CREATE UNIQUE INDEX event_key ON dos.event(workspace, stream, key) WHERE key IS NOT NULL;
    CREATE INDEX event_fence ON dos.event(workspace, stream, fence) WHERE fence IS NOT NULL;
    CREATE FUNCTION dos.refuse_change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'IMMUTABLE' USING ERRCODE = 'integrity_constraint_violation'; END $$;
    CREATE TRIGGER event_immutable BEFORE UPDATE ON dos.event FOR EACH ROW EXECUTE FUNCTION dos.refuse_change();

    CREATE TABLE dos.lease(
      workspace text COLLATE "C" NOT NULL, fence bigint NOT NULL, stream text COLLATE "C" NOT NULL,
      is_lock boolean NOT NULL, shared boolean NOT NULL, exclusive boolean NOT NULL, body bytea NOT NULL,
      beside int8range GENERATED ALWAYS AS (
        CASE WHEN shared AND NOT is_lock THEN int8range(fence, fence, '[]') ELSE int8range(NULL, NULL) END) STORED,
      alone int8range GENERATED ALWAYS AS (
        CASE WHEN is_lock THEN int8range(fence, fence) -- empty: a lock meets no lane
             WHEN exclusive THEN int8range(NULL, NULL) ELSE int8range(fence, fence, '[]') END) STORED,
      PRIMARY KEY (workspace, fence),
      CONSTRAINT lease_writer EXCLUDE USING gist (workspace WITH =, stream WITH =, beside WITH &&),
      CONSTRAINT lease_alone EXCLUDE USING gist (workspace WITH =, alone WITH &&));

    -- A prefix is the range of all paths that start with it. Bytes, because their order is nobody's locale.
    CREATE TYPE dos.path_range AS RANGE (subtype = bytea);
    CREATE TABLE dos.lease_path(
      workspace text COLLATE "C" NOT NULL, fence bigint NOT NULL, path bytea NOT NULL, shared boolean NOT NULL,
      region dos.path_range GENERATED ALWAYS AS (dos.path_range(path, path || '\xff'::bytea)) STORED,
      beside int8range GENERATED ALWAYS AS (
        CASE WHEN shared THEN int8range(fence, fence, '[]') ELSE int8range(NULL, NULL) END) STORED,
      FOREIGN KEY (workspace, fence) REFERENCES dos.lease ON DELETE CASCADE,
      CONSTRAINT lease_disjoint EXCLUDE USING gist (
        workspace WITH =, region WITH &&, beside WITH &&, fence WITH <>));
    CREATE INDEX lease_path_fence ON dos.lease_path(workspace, fence);

    CREATE TABLE dos.snapshot(
      workspace text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, code text NOT NULL, pos bigint NOT NULL,
      state bytea NOT NULL, crc bigint NOT NULL, PRIMARY KEY (workspace, name));
    """,
)
VERSION = len(STEPS)


Connection = psycopg.Connection[tuple[Any, ...]]

# A server that vanished is noticed in half a minute, not after the default of two hours.
_DEFAULTS = {
    "application_name": "dos",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
# Texts of a server without a free session: a refused session has no error code (53300).
_CROWDED = ("too many clients", "too many connections", "connection slots")
# A writer that was stopped in a transaction is ended before those that wait for it give up.
STOPPED_SECONDS = 15.0
_MIGRATION_LOCK = 0x646F7331
_NEW_SESSION = """
    SELECT set_config('lock_timeout', %(busy)s, false),
      set_config('idle_in_transaction_session_timeout', %(stopped)s, false),
      set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
      to_regclass('dos.version') IS NOT NULL"""


def _losing(setting: str, text: str) -> DurabilityNote:
    """Return the note about a setting that can lose acknowledged events."""
    return DurabilityNote(setting=setting, text=text, loses=True)


class Sessions:
    """Opens sessions with one server. `place` names it without the password."""

    def __init__(self, url: str, *, busy_seconds: float, connect_seconds: int) -> None:
        given = _parsed(url)
        self.place = _shown(given)
        self._secret = given.get("password", "")
        several = {"target_session_attrs": "read-write"} if "," in given.get("host", "") else {}
        timeout = {"connect_timeout": str(connect_seconds)}
        self._conninfo = make_conninfo(
            "", **{**_DEFAULTS, **timeout, **several, **given, "client_encoding": "utf8"}
        )
        self._connect_seconds = connect_seconds
        # Zero would mean for ever.
        self._settings = {
            "busy": f"{max(1.0, busy_seconds * 1000):.0f}",
            "stopped": f"{max(1.0, STOPPED_SECONDS * 1000):.0f}",
        }

    def open(self) -> Connection:
        """Open a session; tables are created or brought up to date. Raises a StoreFailed."""
        connection = self._connected()
        try:
            self._prepare(connection)
        except BaseException:
            # Whatever ended it, also Ctrl-C: nobody else knows of the session, so it would stay
            # open. The exception is raised again.
            connection.close()
            raise
        return connection

    def room(self) -> tuple[int, int]:
        """Return how many sessions ordinary users may have in all, and how many there are now."""
        with self.open() as connection:
            row = connection.execute(
                "SELECT current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int"
                " - coalesce(current_setting('reserved_connections', true)::int, 0),"
                " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
            ).fetchone()
        assert row is not None
        return int(row[0]), int(row[1])

    def durability_notes(self) -> list[DurabilityNote]:
        """Return the server's settings by which an acknowledged event could be lost."""
        with self.open() as connection:
            row = connection.execute(
                "SELECT current_setting('fsync'), current_setting('full_page_writes'),"
                " (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),"
                " current_setting('synchronous_standby_names'), current_setting('data_checksums'),"
                " (SELECT count(*) FROM pg_stat_replication)"
            ).fetchone()
        assert row is not None
        fsync, full_pages, commits, synchronous, checksums, standbys = row
        notes = []
        if fsync == "off":
            notes.append(
                _losing("fsync", "fsync is off: a power cut can destroy the whole database")
            )
        if full_pages == "off":
            notes.append(
                _losing(
                    "full_page_writes", "full_page_writes is off: a power cut can leave torn pages"
                )
            )
        if commits in ("off", "local", "remote_write"):
            text = (
                f"synchronous_commit is {commits} on the server;"
                " dos turns it on for its own sessions"
            )
            notes.append(DurabilityNote(setting="synchronous_commit", text=text))
        if standbys and not synchronous:
            text = (
                f"{standbys} standby servers follow asynchronously: a failover can lose"
                " acknowledged events and give out a fence twice; set synchronous_standby_names"
            )
            notes.append(_losing("synchronous_standby_names", text))
        if checksums == "off":
            text = "data checksums are off: damage on the server's disk is found late"
            notes.append(DurabilityNote(setting="data_checksums", text=text))
        return notes

    def _connected(self) -> Connection:
        """Connect to the server, waiting while it starts up. Raises StoreUnreachable."""
        deadline = time.monotonic() + self._connect_seconds
        while True:
            try:
                return psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None)
            except psycopg.Error as error:
                # A server that is starting up or recovering says so, and is worth waiting for.
                starting = psycopg.pq.PGconn.ping(self._conninfo.encode()) == psycopg.pq.Ping.REJECT
                if not starting or time.monotonic() > deadline:
                    raise self._unreachable(error) from None  # the cause may hold what the URL held
            time.sleep(0.1)

    def _unreachable(self, error: psycopg.Error) -> StoreUnreachable:
        """Return the error for a server that refused the session, without the password."""
        said = " ".join(str(error).split())
        if self._secret:
            said = said.replace(self._secret, "***")
        hint = "Check `[store] url` in dos.toml, and that the server runs."
        if any(words in said for words in _CROWDED):
            hint = (
                "Raise max_connections on the server, or run fewer workers:"
                " dos config set supervise.target N"
            )
        return StoreUnreachable(f"{self.place}: {said}", hint=hint)

    def _prepare(self, connection: Connection) -> None:
        """Set up a new session, and the tables where they are missing or old.

        The limits on waiting and the durability of commits are set for this session alone, so that
        the journal does not depend on the server's configuration.
        """
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreFailed(
                f"{self.place} has the encoding {encoding}, which cannot hold every name",
                hint="Make another database: `createdb --encoding=UTF8 --template=template0 NAME`.",
            )
        row = connection.execute(_NEW_SESSION, self._settings).fetchone()
        if row is None or not row[3] or self._version(connection) < VERSION:
            self._migrate(connection)

    def _version(self, connection: Connection) -> int:
        """Return the version of the tables; 0 before the first. Raises JournalTooNew."""
        row = connection.execute("SELECT number FROM dos.version").fetchone()
        version = int(row[0]) if row else 0
        if version > VERSION:
            raise JournalTooNew(
                f"{self.place} has schema {version}, and this dos knows up to {VERSION}",
                hint="Upgrade dos: `pip install --upgrade dispatch-os`.",
            )
        return version

    def _migrate(self, connection: Connection) -> None:
        """Create the tables or bring them up to date, while other hosts wait."""
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
                # Not `IF NOT EXISTS`: it needs a right that a user of another's schema lacks.
                if connection.execute("SELECT to_regnamespace('dos')").fetchone() == (None,):
                    connection.execute("CREATE SCHEMA dos")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS dos.version(number integer NOT NULL)"
                )
                version = self._version(connection)
                for step in STEPS[version:]:
                    connection.execute(step)
                connection.execute("DELETE FROM dos.version")
                connection.execute("INSERT INTO dos.version VALUES (%s)", (VERSION,))
        except psycopg.errors.DuplicateTable as error:
            raise StoreForeign(
                f"{self.place} has a schema `dos` of another program",
                hint="Give the journal a database of its own.",
            ) from error
        except psycopg.Error as error:
            raise explain(error, self.place) from error


def _parsed(url: str) -> dict[str, str]:
    """Return the parts of a URL.

    An error repeats nothing of the URL, because it may hold a password.
    """
    quote = "Write `@` as %40, `/` as %2F and `:` as %3A in a user name or a password."
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        raise BadInput("the URL of the PostgreSQL journal cannot be read", hint=quote) from None
    before_query = url.partition("://")[2].partition("?")[0]
    user, found, password = before_query.rpartition("@")[0].partition(":")
    if found and (unquote(user), unquote(password)) != (
        given.get("user", ""),
        given.get("password", ""),
    ):
        raise BadInput(
            "the URL of the PostgreSQL journal can be read in more than one way", hint=quote
        )
    return given


def _shown(given: dict[str, str]) -> str:
    """Return the address of the server as messages show it.

    The password and the options of the URL are left out.
    """
    user = f"{given['user']}@" if "user" in given else ""
    port = f":{given['port']}" if "port" in given else ""
    return f"postgresql://{user}{given.get('host', '')}{port}/{given.get('dbname', '')}"
