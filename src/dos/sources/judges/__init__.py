"""Who can be asked for an opinion."""
