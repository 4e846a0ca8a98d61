"""Reads what agents said, from transcripts and the input of hooks."""
