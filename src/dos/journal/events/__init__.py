"""The events of the journal: a closed set of kinds, their envelope, and readers."""
