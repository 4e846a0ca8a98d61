"""Gathers everything that needs a person now."""
