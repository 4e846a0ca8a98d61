"""What can be dispatched now, each unit with its prompt."""
