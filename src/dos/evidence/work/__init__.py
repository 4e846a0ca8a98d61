"""Gathers what the questions about work need."""
