"""Verbs about work that was saved and did not land."""
