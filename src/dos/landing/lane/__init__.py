"""The repository of a lane: its agent's own, which dos's git never opens."""
