"""Verbs that watch a fleet, hold it, and keep it going."""
