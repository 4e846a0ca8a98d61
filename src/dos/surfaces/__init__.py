"""Where people and programs meet dos. Surfaces decide nothing and never import one another."""
