"""Verbs that set a workspace up and examine it."""
