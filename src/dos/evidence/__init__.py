"""One gatherer for each question: composes sources, decides nothing."""
