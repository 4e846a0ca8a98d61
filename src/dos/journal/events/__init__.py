"""The events of the journal: a closed set of kinds, the envelope they are stored in, and readers."""
