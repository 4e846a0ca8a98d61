"""The one durable record: the store of events and what is folded from it."""
