"""Gathers what decides whether a unit shipped."""
