"""One gatherer for each question about commits."""
