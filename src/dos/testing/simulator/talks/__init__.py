"""Simulated agents that talk with their workers, and the bugs of these conversations."""
