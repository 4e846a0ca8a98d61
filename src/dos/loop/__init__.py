"""Loops: whether one continues after an iteration, and if not, why."""
