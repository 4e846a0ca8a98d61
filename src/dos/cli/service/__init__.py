"""Verbs that let the system keep `dos up` running."""
