"""Where events are kept: in memory, in SQLite, in PostgreSQL. All three pass one conformance suite."""
