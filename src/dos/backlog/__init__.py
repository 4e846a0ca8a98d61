"""Decide which unit may be offered now, and why another is not worked on."""
