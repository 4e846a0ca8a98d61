"""Backends of the journal: memory, SQLite and PostgreSQL. All pass one conformance suite."""
