"""Packets: what can be dispatched now, and the files that say so."""
