"""Verbs that run a fleet and show it."""
