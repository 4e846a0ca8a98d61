"""Planted bugs: each breaks one promise, to prove that the simulator would notice."""
