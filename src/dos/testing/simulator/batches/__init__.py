"""Simulations by seed, one or many."""
