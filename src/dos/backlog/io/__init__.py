"""Gathers what is known of the units: attempts, landings, what the target branch holds."""
