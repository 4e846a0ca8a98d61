"""Verbs about dos itself."""
