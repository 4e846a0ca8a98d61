"""Gathers what the questions about recovery need."""
