"""Answering a hook with what the journal, the plans and git say, and wiring programs to dos."""
