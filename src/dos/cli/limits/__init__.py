"""Verbs about providers' limits and costs."""
