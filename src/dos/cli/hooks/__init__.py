"""Verbs that git and agent programs call as hooks."""
