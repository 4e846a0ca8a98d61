"""Verbs about verdicts on record, and about what is sent outwards."""
