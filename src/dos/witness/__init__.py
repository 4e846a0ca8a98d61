"""Whose word counts, and what it comes to."""
