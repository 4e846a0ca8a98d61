"""Verbs about plans and units."""
