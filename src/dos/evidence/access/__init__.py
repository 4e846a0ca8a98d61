"""Gathers what the questions about access need."""
