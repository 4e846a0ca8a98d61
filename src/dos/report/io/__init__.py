"""Gathers what a report and a live view show."""
