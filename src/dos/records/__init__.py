"""The nouns: what lanes, leases, runs and regions are. Values only; nothing here reads or writes the outside."""
