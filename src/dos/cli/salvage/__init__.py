"""Verbs about work that was saved and did not land.

Work is named by its number, its ref or its commit; `list.py` reads it for all verbs.
"""
