"""Whether what an agent once noted is still true of the repository."""
