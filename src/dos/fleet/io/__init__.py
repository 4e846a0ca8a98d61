"""Performs the effects of supervisor and worker, starts workers, and looks at the fleet."""
