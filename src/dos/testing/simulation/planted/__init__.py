"""Bugs to be planted on purpose: a simulator that misses them finds nothing."""
