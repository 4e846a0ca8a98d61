"""The one durable record: events, the stores that keep them, and the states folded from them."""
