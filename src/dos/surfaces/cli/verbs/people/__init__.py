"""Verbs for what only a person can do: decide, and pay."""
