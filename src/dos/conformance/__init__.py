"""What real agent programs do, measured: whether hooks stop them, and what dos can read."""
