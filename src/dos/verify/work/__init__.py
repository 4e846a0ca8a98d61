"""Changes that are work only for some units, or that still stand with another value."""
