"""Verbs about what an agent said.

Each reads a text or a transcript and answers by its exit code; none of them reads the journal.
"""
