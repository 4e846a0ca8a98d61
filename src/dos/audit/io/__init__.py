"""Gathers what an audit of commits needs."""
