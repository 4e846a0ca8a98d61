"""Verbs about agent programs: which there are, and what they can."""
