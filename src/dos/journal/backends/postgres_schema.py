"""The tables of the shared store, and the steps that bring an older database up to date."""

# Step n takes a database from version n - 1 to version n. Steps are never edited after a release: a new one is added.
#
# Two ranges of fences stand for who may be beside whom: `(,)` meets everybody, one's own fence alone meets nobody else.
# So one constraint refuses two writers, and a writer beside a reader, and lets readers share.
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
