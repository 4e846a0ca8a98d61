"""The journal: the durable record of events, its backends, and what is folded from it."""
