"""Gathers what is known of a run."""
