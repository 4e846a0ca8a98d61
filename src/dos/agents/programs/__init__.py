"""The table of agent programs: what is special about each, and what was measured of each."""
