"""Verbs about the journal."""
