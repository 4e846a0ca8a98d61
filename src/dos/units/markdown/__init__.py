"""Plan documents: one grammar for the units in a text."""
