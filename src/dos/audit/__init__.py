"""The audit of commits: whether a diff does what its subject claims, and whether tests weaken."""
