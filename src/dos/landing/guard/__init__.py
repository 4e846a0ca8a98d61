"""Keeps work from changing what judges it: its tests, and what runs them."""
