"""Gathers what decisions about a loop need."""
