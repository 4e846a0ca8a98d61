"""The supervisor, the effects that it and its workers yield, and what a tick sees."""
