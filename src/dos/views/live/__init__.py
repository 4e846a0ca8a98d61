"""A fleet as it is being watched."""
