"""Verbs that ask what is true."""
