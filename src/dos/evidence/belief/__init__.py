"""One gatherer for each question about belief."""
