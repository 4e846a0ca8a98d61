"""Verbs that git and agent programs call as hooks.

They start often and must answer fast, so each imports what it needs only once it needs it.
"""
