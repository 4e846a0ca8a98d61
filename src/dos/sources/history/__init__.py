"""Reads of history: git objects, the log, and the index that saves walking it."""
