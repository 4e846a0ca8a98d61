"""The fleet as the journal tells it."""
