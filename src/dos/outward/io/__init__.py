"""Programs and networks: the transports of exports and of notifications."""
