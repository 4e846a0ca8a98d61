"""A worker's iteration, as generators of effects: take a unit on, run an agent, measure, land, wait."""
