"""Reads code: the comments and strings of languages, tokens, and the syntax trees of Python."""
