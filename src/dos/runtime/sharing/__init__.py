"""Many hosts, each with a clone of one remote: work starts at the remote's head, and lands on it."""
