"""The tables of the embedded store, and the steps that bring an older file up to date."""

# Step n takes a file from version n - 1 to version n. Steps are never edited after a release: a new one is added.
STEPS: tuple[str, ...] = (
    """
    CREATE TABLE event(
      pos INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused, also after old events were removed
      stream TEXT NOT NULL, ver INTEGER NOT NULL, kind TEXT NOT NULL, at_ms INTEGER NOT NULL, actor TEXT NOT NULL,
      fence INTEGER, key TEXT, schema INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL,
      UNIQUE(stream, ver));
    CREATE UNIQUE INDEX event_key ON event(stream, key) WHERE key IS NOT NULL;
    CREATE TRIGGER event_immutable BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'IMMUTABLE'); END;

    CREATE TABLE lease(
      fence INTEGER PRIMARY KEY, lane TEXT NOT NULL, is_lock INTEGER NOT NULL, shared INTEGER NOT NULL,
      exclusive INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE UNIQUE INDEX lease_writer ON lease(is_lock, lane) WHERE NOT shared;
    CREATE TRIGGER lease_alone BEFORE INSERT ON lease WHEN NOT NEW.is_lock AND EXISTS(
      SELECT 1 FROM lease WHERE NOT is_lock AND (exclusive OR NEW.exclusive))
      BEGIN SELECT RAISE(ABORT, 'EXCLUSIVE'); END;

    CREATE TABLE lease_path(
      fence INTEGER NOT NULL REFERENCES lease(fence) ON DELETE CASCADE, path TEXT NOT NULL, shared INTEGER NOT NULL,
      PRIMARY KEY(path, fence)) WITHOUT ROWID;
    CREATE INDEX lease_path_fence ON lease_path(fence);
    CREATE TRIGGER lease_disjoint BEFORE INSERT ON lease_path WHEN EXISTS(
      SELECT 1 FROM lease_path p WHERE p.fence <> NEW.fence AND NOT (p.shared AND NEW.shared)
      AND (substr(p.path, 1, length(NEW.path)) = NEW.path OR substr(NEW.path, 1, length(p.path)) = p.path))
      BEGIN SELECT RAISE(ABORT, 'OVERLAP'); END;
    """,
    """
    CREATE INDEX event_fence ON event(stream, fence) WHERE fence IS NOT NULL;
    CREATE TABLE snapshot(
      name TEXT PRIMARY KEY, code TEXT NOT NULL, pos INTEGER NOT NULL, state BLOB NOT NULL, crc INTEGER NOT NULL);
    """,
)
VERSION = len(STEPS)
APPLICATION_ID = 0x646F7331  # "dos1": another program's database is refused, not overwritten
