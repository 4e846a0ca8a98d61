"""The verbs of the archive lock, of numbers and of run identities."""
