"""Bugs that can be switched on, one for each promise that the simulator watches."""
