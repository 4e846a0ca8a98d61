"""One gatherer for each question about what was said."""
