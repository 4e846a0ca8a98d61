"""Gathers what the questions about progress need."""
