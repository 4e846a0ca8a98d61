"""Verbs for the archive lock and for leases under the names of released versions."""
