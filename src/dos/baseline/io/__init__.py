"""Runs setup and test on trees that no agent has touched."""
