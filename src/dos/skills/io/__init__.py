"""Reads the skills of the package, and writes the copies in a repository."""
