"""Verbs about lanes and leases."""
