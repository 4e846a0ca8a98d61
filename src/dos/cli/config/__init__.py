"""Verbs that show and change settings."""
