"""Reads what agents said: transcripts and the input of hooks."""
