"""Verbs that show and change dos.toml."""
