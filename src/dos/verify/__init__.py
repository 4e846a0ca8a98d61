"""Decide whether a unit shipped, by the commits that name it."""
