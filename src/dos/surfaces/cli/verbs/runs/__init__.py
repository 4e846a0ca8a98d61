"""Verbs about runs: begin, claim, decide, resume, explain."""
