"""The worker as generators of effects: pick a unit, run an agent, measure, land, decide."""
