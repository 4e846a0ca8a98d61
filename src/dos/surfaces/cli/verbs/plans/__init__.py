"""Verbs about plan documents and their units."""
