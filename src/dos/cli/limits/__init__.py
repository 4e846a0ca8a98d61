"""Verbs about providers' limits and about what agents cost."""
