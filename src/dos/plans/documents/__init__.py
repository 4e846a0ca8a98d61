"""Plan documents: one grammar for the units in a text, and the views of it."""
